"""What the commands say beside their results: errors, warnings and progress, all on the standard error stream."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

import typer


def tell(message: str) -> None:
    """Print one line on standard error."""
    typer.echo(f"declump: {' '.join(message.split())}", err=True)


def sentence(error: Exception) -> str:
    """Put an error into one sentence for the user."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory for this ({error or 'out of memory'}); try a smaller image"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, OSError | ValueError):
        return str(error)
    return (
        f"something went wrong that should not ({type(error).__name__}: {error}); "
        "please report it with what DECLUMP_DEBUG=1 shows"
    )


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as one line, without the place in the code it comes from."""
    tell(f"warning: {message}")


@contextmanager
def progress_bar(work: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar on a terminal, nothing elsewhere; give a function to call with what is done and what there is."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    quiet = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task(work, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
