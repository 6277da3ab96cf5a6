"""Waits of tests: each for a condition, each with a limit, none by a clock."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
LIMIT = 300.0
"""Seconds that anything may take on the slowest machine; who waits longer waits for what never comes."""
_PAUSE = 0.01


def wait_until(
    condition: Callable[[], T], what: str, *, process: subprocess.Popen[str] | None = None, limit: float = LIMIT
) -> T:
    """Come back with what the condition gives as soon as that is true; else fail with a sentence that says what for.

    A process that is to bring it about may be given: once that has ended, there is nothing to wait for.
    """
    for _ in range(round(limit / _PAUSE)):
        ended = process is not None and process.poll() is not None
        if met := condition():
            return met
        if ended:
            pytest.fail(f"waited for this, but the process has ended before: {what}")
        time.sleep(_PAUSE)
    pytest.fail(f"waited {limit:g} seconds in vain for this: {what}")


@contextmanager
def start(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a process group of its own; at the end of the block it has ended, too.

    Where the block fails, or the command does not end, the whole group is killed: no test leaves anything running.
    """
    with subprocess.Popen(command, text=True, start_new_session=True, **options) as process:
        try:
            yield process
            process.wait(timeout=LIMIT)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
