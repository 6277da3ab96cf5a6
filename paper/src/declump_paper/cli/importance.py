"""``declump importance``: a shape prior whose examples count as much as they help."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import astuple, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import declump
import declump_paper
from declump.cli.terminal import count_of, progress_bar
from declump.cli.train import Data, Folders, Overwrite, check_free, join_folders, write_prior


def importance(
    folders: Folders = [],  # noqa: B006 (typer copies it)
    data: Data = [],  # noqa: B006
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the prior, .npz.")],
    method: Annotated[
        Literal["printed", "held-out"],
        typer.Option(help="As the paper prints it, or by shapes of clumps that are left out."),
    ] = "printed",
    rays: Annotated[int, typer.Option(min=16, help="Radii of an outline.")] = 360,
    modes: Annotated[
        int | None, typer.Option(min=0, help="Modes of variation; by default those with 99.5 % of the variance.")
    ] = None,
    no_copies: Annotated[bool, typer.Option("--no-copies", help="Add no turned and mirrored copies.")] = False,
    no_reach: Annotated[bool, typer.Option("--no-reach", help="Learn shapes only, as the paper does.")] = False,
    nuclei: Annotated[
        bool, typer.Option("--nuclei", help="Learn the shapes of the nuclei instead of the cells.")
    ] = False,
    setting: Annotated[
        Literal["joint", "paper"], typer.Option(help="How clumps are evolved while importance is learnt (printed).")
    ] = "joint",
    step: Annotated[float, typer.Option(help="What a weight is raised by (printed).")] = 1.0,
    tries: Annotated[int, typer.Option(min=1, help="Raises of one shape in a row, at most (printed).")] = 10,
    cycles: Annotated[int, typer.Option(min=0, help="Rounds over all shapes, at most; 0 is no bound (printed).")] = 2,
    energy_of: Annotated[
        Literal["clump", "image"],
        typer.Option(help="What E has to fall of: the shape's clump, or its image (printed)."),
    ] = "clump",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order of the shapes (printed).")] = 0,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Threads. Default: the number of cores (printed).")
    ] = None,
    log: Annotated[Path | None, typer.Option(help="File for every accepted raise, .csv (printed).")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Learn how much each shape counts, and a prior with it. Interrupted, the same command goes on."""
    check_free(out, overwrite)
    if log is not None:
        check_free(log, overwrite)
        if method != "printed":
            raise ValueError("--log writes what '--method printed' does; give both or none")
    shapes: dict[str, Any] = {"rays": rays, "modes": modes, "copies": not no_copies}
    how: dict[str, Any] = {"setting": setting, "step": step, "tries": tries, "cycles": cycles or None, "rng": seed}
    how |= {"reach": not no_reach, "unit": energy_of}
    state = out.with_name(f"{out.stem}-importance.json")
    learnt: list[declump_paper.importance.Importance] = []

    def weigh(images: Iterator[declump.datasets.AnnotatedImage]) -> dict[str, Any]:
        if method == "held-out":
            learnt.append(_learn_held_out(images, shapes))
        else:
            learnt.append(_learn_printed(images, state, jobs, shapes | how))
        return learnt[0].to_weights()

    write_prior(
        join_folders(folders, data),
        out,
        shapes | {"reach": not no_reach},
        nuclei=nuclei,
        overwrite=overwrite,
        weigh=weigh,
    )
    if log is not None:
        _write_log(learnt[0], log)
    state.unlink(missing_ok=True)


def _learn_held_out(
    images: Iterator[declump.datasets.AnnotatedImage], shapes: dict[str, Any]
) -> declump_paper.importance.Importance:
    learnt = declump_paper.importance.held_out_importance(images, **shapes)
    typer.echo(f"importance by held-out shapes: weights from {learnt.weights.min():.2f} to {learnt.weights.max():.2f}")
    return learnt


def _learn_printed(
    images: Iterator[declump.datasets.AnnotatedImage], state: Path, jobs: int | None, how: dict[str, Any]
) -> declump_paper.importance.Importance:
    """Learn with a progress bar, and a state beside the prior from which the same command goes on."""
    with progress_bar("importance") as progress:
        learnt = declump_paper.importance.learn_importance(
            images, workers=jobs or os.cpu_count() or 1, progress=progress, state=state, **how
        )
    why = "nothing improves any more" if learnt.ended == "nothing improves" else "the bound on cycles is reached"
    steps, cycles = count_of(len(learnt.steps), "raise"), count_of(learnt.cycles, "cycle")
    typer.echo(f"importance as printed: {steps} in {cycles}; {why}")
    return learnt


def _write_log(learnt: declump_paper.importance.Importance, path: Path) -> None:
    """Write every accepted raise as a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([field.name for field in fields(declump_paper.importance.Step)])
        table.writerows(astuple(step) for step in learnt.steps)
