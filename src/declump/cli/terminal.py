"""What the commands say beside their results: errors, warnings and progress, all on the standard error stream."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

import typer

from declump._interruption import Interrupted, Terminated
from declump.errors import printable


def tell(message: str) -> None:
    """Print one line on standard error."""
    typer.echo(f"declump: {printable(' '.join(message.split()))}", err=True)


@contextmanager
def say_when_interrupted(say: Callable[[], str]) -> Iterator[None]:
    """After Ctrl-C or SIGTERM, say what is done and how to go on, and end with the exit code of the interruption."""
    try:
        yield
    except (Interrupted, Terminated) as end:
        tell(f"interrupted: {say()}")
        raise typer.Exit(end.code) from None


def count_of(number: int, one: str, many: str | None = None) -> str:
    """Give a number and what it counts, in the singular or plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def split_words(text: str) -> list[str]:
    """Take words apart that have commas between them."""
    return [word.strip() for word in text.split(",") if word.strip()]


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


@contextmanager
def image_bar(total: int) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """Show images, cells, the time left and the stage on a terminal, nothing elsewhere.

    Gives two functions: one to call with the cells of each image that is done, one with what is being done.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("images"),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[cells]} cells"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[stage]}", markup=False),
    )
    quiet, cells = not sys.stderr.isatty(), 0
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task("", total=total, cells=0, stage="loading")

        def advance(found: int) -> None:
            nonlocal cells
            cells += found
            bar.update(task, advance=1, cells=cells)

        def tell(stage: str) -> None:
            begun = stage.partition(",")[0] != bar.tasks[task].fields["stage"].partition(",")[0]
            bar.update(task, stage=printable(stage), refresh=begun)  # none is passed over, however short

        yield advance, tell
