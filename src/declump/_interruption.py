"""SIGINT and SIGTERM end a process by an exception, at whatever moment they arrive.

Python runs the handler of a signal wherever the main thread happens to be. In a finaliser, a weak reference's callback
or a callback from C (numba has one while it compiles) an exception cannot be raised: Python would print it and go on.
Such an interruption is delivered again a moment later instead.
"""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_AGAIN = 0.02
"""Seconds until an interruption that could not be raised is delivered again."""


class Interrupted(KeyboardInterrupt):
    """SIGINT has arrived; of a plain KeyboardInterrupt Python may decide the exit code itself."""

    code = 128 + signal.SIGINT


class Terminated(SystemExit):
    """SIGTERM has arrived."""

    code: int

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)


def raise_on_signals() -> None:
    """Make SIGINT raise Interrupted and SIGTERM raise Terminated, also where Python would only print them."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _deliver_again


def ignore_signals() -> None:
    """Let what is left of a process that has done its work come to its end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Interrupted


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: cleaning up is not to be interrupted
    raise Terminated


def _deliver_again(unraisable: sys.UnraisableHookArgs) -> None:
    kind = unraisable.exc_type
    if not issubclass(kind, Interrupted | Terminated):
        sys.__unraisablehook__(unraisable)
        return
    number = signal.SIGINT if issubclass(kind, Interrupted) else signal.SIGTERM
    if number == signal.SIGTERM:
        with suppress(ValueError):  # not the main thread, where nothing was to be ended
            signal.signal(number, _terminate)
    timer = threading.Timer(_AGAIN, signal.raise_signal, [number])
    timer.daemon = True
    timer.start()
