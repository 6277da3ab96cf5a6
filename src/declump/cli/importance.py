"""What ``declump train prior`` does when the importance of examples is to be learnt."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import astuple, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import declump
from declump.cli.terminal import count_of, progress_bar

Method = Annotated[
    Literal["none", "printed", "held-out"],
    typer.Option(
        help="Learn how much each shape counts: as the paper prints it, or by shapes of clumps that are left out."
    ),
]
Setting = Annotated[
    Literal["joint", "paper"], typer.Option(help="How clumps are evolved while importance is learnt as printed.")
]
StepSize = Annotated[float, typer.Option(help="What a weight is raised by (printed).")]
Tries = Annotated[int, typer.Option(min=1, help="Raises of one shape in a row, at most (printed).")]
Cycles = Annotated[int, typer.Option(min=0, help="Rounds over all shapes, at most; 0 is no bound (printed).")]
Unit = Annotated[
    Literal["clump", "image"],
    typer.Option("--energy-of", help="What E has to fall of: the shape's clump, or its image (printed)."),
]
Seed = Annotated[int, typer.Option(min=0, help="What the order of the shapes follows from (printed).")]
Jobs = Annotated[
    int | None, typer.Option("-j", "--jobs", min=1, help="Threads; by default the number of cores (printed).")
]
Log = Annotated[Path | None, typer.Option(help="File for every accepted raise, .csv (printed).")]


def learn_weights(
    images: Iterable[declump.datasets.AnnotatedImage],
    method: str,
    state: Path,
    jobs: int | None,
    shapes: dict[str, Any],
    how: dict[str, Any],
) -> declump.importance.Importance | None:
    """Learn the importance with a progress bar, and a state beside the prior from which the same command goes on."""
    if method == "none":
        return None
    if method == "held-out":
        learnt = declump.importance.held_out_importance(images, **shapes)
        spread = f"{learnt.weights.min():.2f} to {learnt.weights.max():.2f}"
        typer.echo(f"importance by held-out shapes: weights from {spread}")
        return learnt
    workers = jobs or os.cpu_count() or 1
    with progress_bar("importance") as progress:
        learnt = declump.importance.learn_importance(
            images, workers=workers, progress=progress, state=state, **shapes, **how
        )
    why = "nothing improves any more" if learnt.ended == "nothing improves" else "the bound on cycles is reached"
    steps, cycles = count_of(len(learnt.steps), "raise"), count_of(learnt.cycles, "cycle")
    typer.echo(f"importance as printed: {steps} in {cycles}; {why}")
    return learnt


def write_log(learnt: declump.importance.Importance, path: Path) -> None:
    """Write every accepted raise as a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([field.name for field in fields(declump.importance.Step)])
        table.writerows(astuple(step) for step in learnt.steps)
