"""``declump demo``: a first look, on a smear that the package draws itself."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

import declump
from declump._files import atomic_folder, check_free
from declump.cli.segment import count_cells, list_files
from declump.cli.terminal import tell

SEED = 28
"""A smear chosen by its looks, with few cells cut by the border: an example, not a measurement."""

FOLDER = Path("declump-demo")
"""Where the demo goes unless another folder is named."""


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the sample and its result.")] = Path(
        "declump-demo"
    ),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in the folder.")] = False,
    browser: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
) -> None:
    """Draw a smear, find its cells and compare them with the truth."""
    sample, result = out / "sample", out / "result"
    check_free(out, overwrite=overwrite)
    smear = declump.simulate.smear((512, 512), cells=12, overlap=0.4, stain="pap", rng=SEED)
    old = [path.relative_to(sample).as_posix() for path in (sample / "cells").glob("cell*.png")]
    with atomic_folder(sample, overwrite=overwrite, own=old) as draft:
        declump.simulate.write(smear, draft)
    source = declump.batch.Source(sample / "image.png", "result")
    (outcome,) = declump.batch.run([source], out, overwrite=overwrite, command="declump demo")
    if outcome.record is None:
        raise ValueError(outcome.reason)
    score = declump.score(smear.cells, declump.io.read(result).masks)
    typer.echo(f"A simulated smear of {len(smear.cells)} overlapping cells is in {sample}.")
    typer.echo(f"Found: {count_cells(outcome)}.")
    typer.echo(f"Against the exact truth the mean Dice is {score.dice_all:.3f} (1 is perfect). Look at:")
    page = declump.report.write_report(out)
    for line in [*list_files(result), f"report    {page}"]:
        typer.echo(f"  {line}")
    if browser and not webbrowser.open(page.resolve().as_uri()):
        tell(f"no browser could be opened; open {page} yourself")
