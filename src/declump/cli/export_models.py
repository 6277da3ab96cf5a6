"""``declump export-models``: the networks for bioimage.io."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import declump


def export_models(
    out: Annotated[Path, typer.Option("-o", "--out", help="New or empty folder; gets a package for each network.")],
    regions: Annotated[str, typer.Option(metavar="FILE", help="Region network, or 'default'.")] = "default",
    rays: Annotated[str, typer.Option(metavar="FILE", help="Ray network, or 'default'.")] = "default",
) -> None:
    """Write the region and ray networks as packages of bioimage.io, each with a test input and its output."""
    for path in declump.bridges.export_models(out, regions=regions, rays=rays):
        typer.echo(path)
