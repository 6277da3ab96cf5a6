"""``declump simulate``: smears with exact truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import declump
from declump._files import atomic_folder
from declump.cli.terminal import progress_bar


def simulate(
    out: Annotated[Path, typer.Option("-o", "--out", help="New or empty folder; gets a folder for each smear.")],
    count: Annotated[int, typer.Option(min=1, help="Number of smears.")] = 1,
    cells: Annotated[int, typer.Option(min=0, help="Cells in each.")] = 12,
    overlap: Annotated[float, typer.Option(min=0, max=1, help="From 0 (cells apart) to 1 (heavily piled).")] = 0.4,
    stain: Annotated[
        Literal["pap", "he", "grey", "pap-violet"], typer.Option(help="Papanicolaou, H&E, grey; hues of real frames.")
    ] = "pap",
    size: Annotated[str, typer.Option(metavar="N|HxW", help="Side, or height x width, in pixels.")] = "512",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same smears.")] = 0,
    clean: Annotated[bool, typer.Option("--clean", help="No debris, uneven light, blur or noise.")] = False,
) -> None:
    """Draw synthetic smears with the exact mask of every whole cell, in the ISBI 2015 layout."""
    shape = _shape(size)
    if out.is_dir() and any(out.iterdir()):
        raise FileExistsError(f"the folder {out} is not empty; give a new or empty one")

    import numpy as np

    rng = np.random.default_rng(seed)
    dirt = 0.0 if clean else 1.0
    digits = max(3, len(str(count - 1)))
    names = [f"smear{index:0{digits}d}" for index in range(count)]
    with atomic_folder(out) as draft, progress_bar("smears") as progress:
        for done, name in enumerate(names, start=1):
            smear = declump.simulate.smear(
                shape, cells=cells, overlap=overlap, stain=stain, rng=rng,
                debris=dirt, illumination=dirt, blur=dirt, noise=dirt,
            )  # fmt: skip
            declump.simulate.write(smear, draft / name)
            progress(done, count)
    for name in names[:1] if count == 1 else (names[0], names[-1]):
        typer.echo(f"{'...  ' if name != names[0] else ''}{out / name}")
    typer.echo("each with image.png, clump.png, nuclei.png and the whole cells as cells/*.png")


def _shape(size: str) -> tuple[int, int]:
    sides = size.lower().split("x")
    if len(sides) > 2 or not all(side.isdecimal() and side.isascii() for side in sides):
        raise typer.BadParameter(
            f"{size!r} is no side as in 512, or height x width as in 512x768", param_hint="'--size'"
        )
    return int(sides[0]), int(sides[-1])
