"""``declump train``: models from annotated images."""

from __future__ import annotations

import shlex
import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from declump.cli.terminal import progress_bar

app = typer.Typer(help="Learn from annotated images.", no_args_is_help=True)


@app.callback()
def _train() -> None:
    """Keep ``prior`` a command of its own while it is the only one."""


@app.command()
def prior(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Data in the ISBI 2014 or 2015 layout.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the prior, .npz.")],
    rays: Annotated[int, typer.Option(min=16, help="Radii of an outline.")] = 360,
    modes: Annotated[
        int | None, typer.Option(min=0, help="Modes of variation; by default those with 99.5 % of the variance.")
    ] = None,
    no_copies: Annotated[bool, typer.Option("--no-copies", help="Add no turned and mirrored copies.")] = False,
    no_reach: Annotated[bool, typer.Option("--no-reach", help="Learn shapes only, as the paper does.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Learn what shapes to expect from images with whole masks."""
    if out.is_dir():
        raise FileExistsError(f"{out} is a folder; give the name of a file to write")
    if out.exists() and not overwrite:
        raise FileExistsError(f"the file {out} exists; give another name, or --overwrite")

    from declump import datasets, learn_prior

    readers = [datasets.read(folder) for folder in folders]  # complain of every folder before reading any image
    card = {"data": [folder.resolve().name for folder in folders], "command": shlex.join(["declump", *sys.argv[1:]])}
    seen = 0

    with progress_bar("images") as progress:

        def count(_name: str) -> None:
            nonlocal seen
            seen += 1
            progress(seen, None)

        learnt = learn_prior(
            chain.from_iterable(readers),
            rays=rays,
            modes=modes,
            copies=not no_copies,
            reach=not no_reach,
            card=card,
            progress=count,
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    learnt.save(out)
    typer.echo(
        f"{learnt.card['whole cells']} whole cells of {learnt.card['cells']} in {seen} images: mean radius "
        f"{learnt.mean.mean():.1f} px, {learnt.variances.size} modes{', reach learnt' if learnt.reach else ''}"
    )
    typer.echo(f"prior     {out}")
