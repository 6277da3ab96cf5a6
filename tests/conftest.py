"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from hypothesis import settings

from declump.errors import MissingExtraError
from support.fixtures import data_folder, isbi2014_folder, isbi2015_folder  # noqa: F401

# Imports inside functions and compiled kernels make a first call slow: no deadline for a single example. Where the
# tests decide what lands ($CI), the same examples are tried every time; elsewhere new ones are looked for.
settings.register_profile("declump", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("declump")


def pytest_configure() -> None:
    """Heed interruptions, as tests send them, even where a shell started the tests in the background without them.

    Processes inherit what is ignored, and so would those that are tested.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


WITHOUT_EXTRAS = "DECLUMP_WITHOUT_EXTRAS" in os.environ
"""Whether the package was installed without extras on purpose, as ``tools/installed.py`` does; else a library that is
missing is a failure."""


@contextmanager
def _skipping_what_another_extra_brings() -> Generator[None]:
    """Skip where a library of an extra that is not installed is met, even where another error was expected."""
    try:
        yield
    except Exception as error:
        met = error.__context__ if isinstance(error.__context__, MissingExtraError) else error
        if WITHOUT_EXTRAS and isinstance(met, MissingExtraError | ModuleNotFoundError):
            pytest.skip(f"another extra: {met}")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Skip a test whose fixtures need another extra."""
    with _skipping_what_another_extra_brings():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Skip a test that needs another extra."""
    with _skipping_what_another_extra_brings():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module that imports such a library at its top."""
    report = yield
    if WITHOUT_EXTRAS and report.failed and "ModuleNotFoundError" in str(report.longrepr):
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, "Skipped: another extra")
    return report
