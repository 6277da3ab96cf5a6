"""What the examples in docstrings need, which are collected beside the tests."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("napari") else ["src/declump/bridges/napari_plugin/dock.py"]
"""Modules of bridges whose program is not installed."""


def pytest_configure(config: pytest.Config) -> None:
    """Skip the examples of modules that import torch at their top where the extra 'train' is absent.

    Where it is there, a module that cannot be imported is an error like any other.
    """
    if find_spec("torch") is None:
        config.option.doctest_ignore_import_errors = True
