"""What the examples in docstrings need, which are collected beside the tests."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def pytest_configure(config: pytest.Config) -> None:
    # Modules of the trainings import torch at their top. Where the extra 'train' is absent their examples are skipped;
    # where it is there, a module that cannot be imported is an error like any other.
    if find_spec("torch") is None:
        config.option.doctest_ignore_import_errors = True
