"""``declump evolve``: whole cells from a clump mask and nuclei."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

import declump
from declump._files import check_free
from declump.cli.terminal import count_of, progress_bar, tell


def evolve(
    clump: Annotated[Path, typer.Option(help="Mask of where there is any cell: PNG or TIFF with two values.")],
    nuclei: Annotated[Path, typer.Option(help="One nucleus a cell: a label image, or a mask in which they are apart.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the results.")],
    image: Annotated[Path | None, typer.Option(help="Picture to draw the outlines over; by default the clump.")] = None,
    prior: Annotated[str, typer.Option(help="'default', or a file of 'declump train prior'.")] = "default",
    setting: Annotated[
        Literal["joint", "paper"], typer.Option(help="'joint', or 'paper', the published method.")
    ] = "joint",
    scale: Annotated[
        float | None, typer.Option(help="Size of the cells relative to the prior's; by default it is estimated.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace results that are in the folder.")] = False,
) -> None:
    """Find the whole outline of every cell from a clump mask and its nuclei."""
    result, files = segment_files(
        clump, nuclei, out, image=image, prior=prior, setting=setting, scale=scale, overwrite=overwrite
    )
    typer.echo(summarise(result))
    for line in list_files(files):
        typer.echo(line)


def segment_files(
    clump: Path,
    nuclei: Path,
    out: Path,
    *,
    image: Path | None = None,
    prior: str = "default",
    setting: str = "joint",
    scale: float | None = None,
    overwrite: bool = False,
) -> tuple[declump.Segmentation, dict[str, Path]]:
    """Read the files, find the cells and write the results; see :func:`declump.evolve` for what the arguments mean.

    Returns
    -------
    segmentation : Segmentation
    files : dict of str to Path
        See :func:`declump.io.write_results`.
    """
    check_free(out, overwrite=overwrite)
    mask, labels = declump.io.read_mask(clump), declump.io.read_labels(nuclei)
    picture = mask if image is None else declump.io.read_image(image)
    for path, array in ((nuclei, labels), (image, picture)):
        if array.shape[:2] != mask.shape:
            raise ValueError(
                f"{clump} is {_size(mask.shape)} pixels and {path} {_size(array.shape)}; give files of the same image"
            )
    if not mask.any():
        raise ValueError(f"{clump} is empty, there is no cell to find; give a mask that is not 0 where cells are")
    seeds = declump.seeds_from_labels(labels)
    if not len(seeds):
        tell(f"warning: {nuclei} holds no nucleus, so no cell is found")
    with warnings.catch_warnings(), progress_bar("cells") as progress:
        warnings.simplefilter("ignore", declump.SeedOutsideWarning)  # said below with the numbers of the table
        result = declump.evolve(mask, seeds, prior=prior, setting=setting, scale=scale, progress=progress)
    _tell_outside(result)
    return result, declump.io.write_results(result, out, image=picture, overwrite=overwrite)


def summarise(result: declump.Segmentation) -> str:
    """Say in one line what was found."""
    found = f"{count_of(len(result), 'cell')} in {count_of(len(result.clumps), 'clump')}"
    pixels = sum(record.size for record in result.clumps)
    if not pixels:
        return found
    share = 100 * result.energy.sum() / pixels
    return f"{found}; the outlines differ from the clump mask in {share:.1f} % of its pixels"


def list_files(files: dict[str, Path]) -> list[str]:
    """Say in one line each where the files are, those to look at first."""
    names = {"overlay": "overlay.png", "masks": "masks.tif", "table": "cells.csv", "contours": "contours.json"}
    return [f"{what:<9} {files[name]}" for what, name in names.items() if name in files]


def _tell_outside(result: declump.Segmentation) -> None:
    import numpy as np

    outside = 1 + np.flatnonzero(result.clump < 0)
    if outside.size:
        numbers = ", ".join(map(str, outside[:10])) + (" ..." if outside.size > 10 else "")
        tell(
            f"warning: {outside.size} of {count_of(len(result), 'nucleus', 'nuclei')} outside the clump mask, "
            f"left without an outline: cell {numbers}"
        )


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} x {shape[1]}"
