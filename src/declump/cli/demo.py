"""``declump demo``: a first look, on a smear that the package draws itself and on a real frame."""

from __future__ import annotations

import webbrowser
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

import declump
from declump._files import atomic_folder, check_free, write_atomically
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
    """Find the cells of a simulated smear, compared with the truth, and of a real Pap frame."""
    sample, result, frame = out / "sample", out / "result", out / "pap.jpg"
    check_free(out, overwrite=overwrite)
    smear = declump.simulate.smear((512, 512), cells=12, overlap=0.4, stain="pap", rng=SEED)
    old = [path.relative_to(sample).as_posix() for path in (sample / "cells").glob("cell*.png")]
    with atomic_folder(sample, overwrite=overwrite, own=old) as draft:
        declump.simulate.write(smear, draft)
    write_atomically(frame, (resources.files("declump.data") / "pap-clean.jpg").read_bytes())
    sources = [declump.batch.Source(sample / "image.png", "result"), declump.batch.Source(frame, "pap")]
    drawn, real = declump.batch.run(sources, out, overwrite=overwrite, command="declump demo")
    for outcome in (drawn, real):
        if outcome.record is None:
            raise ValueError(outcome.reason)
    score = declump.score(smear.cells, declump.io.read(result).masks)
    typer.echo(f"A simulated smear of {len(smear.cells)} overlapping cells is in {sample}.")
    typer.echo(f"Found: {count_cells(drawn)}.")
    typer.echo(f"Against the exact truth the mean Dice is {score.dice_all:.3f} (1 is perfect). Look at:")
    for line in list_files(result):
        typer.echo(f"  {line}")
    typer.echo(f"A real Pap frame (CRIC, Rezende et al. 2021, CC BY 4.0) is {frame}.")
    typer.echo(f"Found: {count_cells(real)}. Look at:")
    page = declump.report.write_report(out)
    for line in [*list_files(out / "pap"), f"report    {page}"]:
        typer.echo(f"  {line}")
    if browser and not webbrowser.open(page.resolve().as_uri()):
        tell(f"no browser could be opened; open {page} yourself")
