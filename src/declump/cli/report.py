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
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Confidence from which on cells are shown at first.")
    ] = 0.0,
) -> None:
    """Make one page of all results: pictures, table, distributions, failures."""
    with progress_bar("images") as progress:
        page = declump.report.write_report(results, images=images, min_confidence=min_confidence, progress=progress)
    typer.echo(f"report    {page}")
