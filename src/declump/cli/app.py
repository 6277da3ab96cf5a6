"""The application: all commands, and what becomes of their errors and interruptions."""

from __future__ import annotations

import io
import os
import sys
import warnings
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from declump import __version__
from declump._installation import how_to_install_paper
from declump._interruption import Interrupted, Terminated
from declump.cli import (
    demo,
    doctor,
    evaluate,
    evolve,
    fuse,
    info,
    report,
    review,
    segment,
    simulate,
    slide,
    split,
    train,
)
from declump.cli.terminal import show_warning, tell
from declump.errors import MissingExtraError, help_address, raise_ending, sentence

COMMANDS = "declump.commands"
"""Entry points by which other packages add commands: the name of the command, and its function."""
OF_PAPER = ("compare", "importance", "reproduce")
"""Commands of the paper's package."""


class _Commands(TyperGroup):
    """All commands; an interruption for which a command has no sentence of its own gets one."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Give a command by its name, or say how to install that of the paper's package."""
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in OF_PAPER:
            raise MissingExtraError(f"'declump {cmd_name}' is in the paper's package: {how_to_install_paper()}")
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except (Interrupted, Terminated) as end:
            tell("interrupted: what was not finished has not been written; run the same command again")
            raise typer.Exit(end.code) from None


app = typer.Typer(
    name="declump",
    cls=_Commands,
    help="Segments every cell of an overlapping clump, whole.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(segment.segment)
app.command()(slide.slide)
app.command()(evolve.evolve)
app.command()(split.split)
app.command()(fuse.fuse)
app.command()(simulate.simulate)
app.command()(report.report)
app.command(name="open")(review.open_review)
app.command()(evaluate.evaluate)
app.add_typer(train.app, name="train")
app.command()(demo.demo)
app.command()(info.info)
app.command()(doctor.doctor)
for _command in sorted(entry_points(group=COMMANDS), key=lambda entry: entry.name):
    app.command(name=_command.name)(_command.load())


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"declump {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Give the command line options of its own; each acts by its callback."""


def run() -> None:
    """Run the command line: an error becomes one sentence and exit code 1."""
    warnings.showwarning = show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may know fewer letters than a name has
    try:
        try:
            app(prog_name="declump")
        except SystemError as error:
            raise_ending(error)
            raise
    except SystemExit as end:
        # Before a command begins, typer takes Ctrl-C for its own, and says nothing.
        if isinstance(getattr(end.__context__, "__cause__", None), Interrupted):
            tell("interrupted before anything was begun")
        raise
    except Exception as error:
        if "DECLUMP_DEBUG" in os.environ:
            raise
        tell(f"{sentence(error)} [help: {help_address(error)}]")
        sys.exit(1)
