"""``declump demo``: a first look, on a smear that the package draws itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from declump.cli.segment import found, places

SEED = 28
"""A smear chosen by its looks, with few cells cut by the border: an example, not a measurement."""


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the sample and its result.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in the folder.")] = False,
) -> None:
    """Draw a smear, find its cells and compare them with the truth."""
    from declump import evaluation, io, simulate
    from declump._files import atomic_folder, check_free
    from declump.batch import Source, run
    from declump.report import write_report

    sample, result = out / "sample", out / "result"
    check_free(out, overwrite=overwrite)
    smear = simulate.smear((512, 512), cells=12, overlap=0.4, stain="pap", rng=SEED)
    old = [path.relative_to(sample).as_posix() for path in (sample / "cells").glob("cell*.png")]
    with atomic_folder(sample, overwrite=overwrite, own=old) as draft:
        simulate.write(smear, draft)
    (outcome,) = run([Source(sample / "image.png", "result")], out, overwrite=overwrite, command="declump demo")
    if outcome.record is None:
        raise ValueError(outcome.reason)
    score = evaluation.score(smear.cells, io.read(result).masks)
    typer.echo(f"A simulated smear of {len(smear.cells)} overlapping cells is in {sample}.")
    typer.echo(f"Found: {found(outcome)}.")
    typer.echo(f"Against the exact truth the mean Dice is {score.dice_all:.3f} (1 is perfect). Look at:")
    for line in [*places(result), f"report    {write_report(out)}"]:
        typer.echo(f"  {line}")
