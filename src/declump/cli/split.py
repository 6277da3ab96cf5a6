"""``declump split``: whole objects from nothing but a mask of touching or overlapping ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import declump
from declump._files import check_free
from declump.cli.evolve import list_files
from declump.cli.terminal import progress_bar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def split(
    mask: Annotated[Path, typer.Argument(help="Where there is any object: PNG or TIFF with two values.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the results.")],
    seeds: Annotated[
        Path | None, typer.Option(help="CSV file with the row and column of one point in each object; else found.")
    ] = None,
    image: Annotated[
        Path | None, typer.Option(help="The picture, as large as the mask, in which a model finds the seeds.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="'default' (nuclei), or a model of 'declump train regions': seeds by regression.")
    ] = None,
    diameter: Annotated[
        float | None,
        typer.Option(help="Usual diameter in pixels of what the model finds; by default as it was trained."),
    ] = None,
    prior: Annotated[
        str, typer.Option(help="'round', 'cytoplasm', 'nucleus', or a file of 'declump train prior'.")
    ] = "round",
    scale: Annotated[
        float | None, typer.Option(help="Size of the objects relative to the prior's; by default it is estimated.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace results that are in the folder.")] = False,
) -> None:
    """Find every object, whole, of a mask of touching or overlapping ones. No image is needed.

    With --image and --model, seeds are the centres that a network sees, and shape tells only where it sees none.
    """
    if seeds is not None and (image is not None or model is not None or diameter is not None):
        raise typer.BadParameter("seeds are given or found, not both", param_hint="'--seeds' / '--model'")
    if (image is None) != (model is None):
        raise typer.BadParameter("a model and an image are given together", param_hint="'--image' / '--model'")
    check_free(out, overwrite=overwrite)
    clumps = declump.io.read_mask(mask)
    if not clumps.any():
        raise ValueError(f"{mask} is empty, there is no object to find; give a mask that is not 0 where objects are")
    points = None if seeds is None else read_points(seeds)
    picture = None if image is None else declump.io.read_image(image)
    with progress_bar("objects") as progress:
        result = declump.split(
            clumps, picture, seeds=points, model=model, diameter=diameter, prior=prior, scale=scale, progress=progress
        )
    files = declump.io.write_results(result, out, image=clumps if picture is None else picture, overwrite=overwrite)
    share = 100 * result.energy.sum() / sum(record.size for record in result.clumps)
    typer.echo(
        f"{len(result)} objects in {len(result.clumps)} clumps; the outlines differ from the mask in {share:.1f} % of "
        "its pixels"
    )
    for line in list_files(files):
        typer.echo(line)


def read_points(path: Path) -> NDArray[np.float64]:
    """Read points (N, 2) from a CSV file: a row and a column on each line, after a line of names if there is one."""
    import numpy as np

    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; give a CSV file with the row and column of each seed")
    lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    points = []
    for number, line in enumerate(lines, start=1):
        parts = [part.strip() for part in line.replace(";", ",").split(",")]
        try:
            row, column = map(float, parts)
        except ValueError:
            if not line or (number == 1 and parts == ["row", "column"]):
                continue
            raise ValueError(
                f"line {number} of {path} is {line!r}; each line has two numbers, row and column, with a comma between"
            ) from None
        points.append((row, column))
    return np.array(points, dtype=np.float64).reshape(-1, 2)
