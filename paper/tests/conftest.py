"""Fixtures of the tests of the paper's package: those of declump's own."""

import os

from hypothesis import settings

from support.fixtures import data_folder, here, isbi2014_folder, isbi2015_folder  # noqa: F401

settings.register_profile("declump", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("declump")
