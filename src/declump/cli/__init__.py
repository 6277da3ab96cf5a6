"""The command line: a file for each command, written against declump's public names, which load when they are used."""

from __future__ import annotations

import sys

from declump._interruption import Interrupted, Terminated, ignore_signals, raise_on_signals


def main() -> None:
    """Run the command line: an error becomes one sentence and exit code 1, an interruption exit code 130 or 143."""
    raise_on_signals()
    try:
        from declump.cli.app import run  # takes a third of a second, in which a signal may already arrive

        run()
    except (Interrupted, Terminated) as end:
        sys.stderr.write("declump: interrupted before anything was begun\n")
        sys.exit(end.code)
    finally:
        ignore_signals()
