"""``declump report``: one page to look at results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import declump
from declump.cli.terminal import progress_bar


def report(
    results: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder that 'declump segment' wrote, or that of one image in it.")
    ],
    images: Annotated[
        Path | None, typer.Option(help="Folder of the original images; by default as run.json tells.")
    ] = None,
) -> None:
    """Make one page of all results: pictures, table, distributions, failures."""
    with progress_bar("images") as progress:
        page = declump.report.write_report(results, images=images, progress=progress)
    typer.echo(f"report    {page}")
