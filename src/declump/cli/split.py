"""``declump split``: whole objects from nothing but a mask of touching or overlapping ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import declump
from declump._files import check_free
from declump.cli.evolve import list_files
from declump.cli.segment import FORMATS
from declump.cli.terminal import count_of, progress_bar, split_words, tell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def split(
    masks: Annotated[
        list[str],
        typer.Argument(
            metavar="MASK", help="Where there is any object: files with two values, folders of them, or patterns."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the results; of several masks one folder each.")],
    seeds: Annotated[
        Path | None,
        typer.Option(help="CSV file with the row and column of one point in each object; else found. One mask only."),
    ] = None,
    image: Annotated[
        Path | None,
        typer.Option(help="The picture, as large as the mask: what outlines are drawn over, and where a model looks."),
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
    formats: Annotated[
        str | None, typer.Option("--format", metavar=FORMATS, help="What to write, with commas, as for 'segment'.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace results that are in the folder.")] = False,
) -> None:
    """Find every object, whole, of masks of touching or overlapping ones. No image is needed.

    With --image and --model, seeds are the centres that a network sees, and shape tells only where it sees none.
    """
    if seeds is not None and (model is not None or diameter is not None):
        raise typer.BadParameter("seeds are given or found, not both", param_hint="'--seeds' / '--model'")
    if model is not None and image is None:
        raise typer.BadParameter("a model looks into an image: give both", param_hint="'--image' / '--model'")
    sources = declump.batch.find_sources(masks, out=out, note=tell, stack="planes")
    if len(sources) > 1 and (seeds is not None or image is not None):
        raise typer.BadParameter("seeds and an image belong to one mask", param_hint="'--seeds' / '--image'")
    chosen = declump.io.formats.DEFAULT if formats is None else declump.io.format_names(split_words(formats))
    places = [out if len(sources) == 1 else out / source.name for source in sources]
    for place in places:
        check_free(place, overwrite=overwrite)
    points = None if seeds is None else read_points(seeds)
    picture = None if image is None else declump.io.read_image(image)
    failed = 0
    for source, place in zip(sources, places, strict=True):
        try:
            clumps = declump.io.read_mask(source.path)
            if not clumps.any():
                raise ValueError(f"{source} is empty, there is no object to find; give a mask that is not 0 everywhere")
            with progress_bar("objects") as progress:
                result = declump.split(
                    clumps, picture if model is not None else None,
                    seeds=points, model=model, diameter=diameter, prior=prior, scale=scale, progress=progress,
                )  # fmt: skip
            shown = clumps if picture is None else picture
            files = declump.io.write_results(
                result, place, image=shown, formats=chosen, picture=(image or source.path).name, overwrite=overwrite
            )
        except ValueError as error:
            if len(sources) == 1:
                raise
            failed += 1
            tell(str(error))
            continue
        share = 100 * result.energy.sum() / sum(record.size for record in result.clumps)
        found = f"{count_of(len(result), 'object')} in {count_of(len(result.clumps), 'clump')}"
        typer.echo(
            ("" if len(sources) == 1 else f"{source}: ")
            + f"{found}; the outlines differ from the mask in {share:.1f} % of its pixels"
        )
        if len(sources) == 1:
            for line in list_files(files):
                typer.echo(line)
    if failed:
        tell(f"{failed} of {count_of(len(sources), 'mask')} failed")
        raise typer.Exit(1)


def read_points(path: Path) -> NDArray[np.float64]:
    """Read points (N, 2) from a CSV file: a row and a column on each line.

    With a line of names, the columns ``row`` and ``column``, or ``y`` and ``x``, in any place; others are passed over.
    The names may tell units, as ``row_px`` does.
    """
    import numpy as np

    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; give a CSV file with the row and column of each seed")
    lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    points, places = [], (0, 1)
    for number, line in enumerate(lines, start=1):
        parts = [part.strip().strip('"') for part in line.replace(";", ",").split(",")]
        names = [part.lower().removesuffix("_px") for part in parts]
        header = next((pair for pair in (("row", "column"), ("y", "x")) if set(pair) <= set(names)), None)
        if number == 1 and header is not None:
            places = names.index(header[0]), names.index(header[1])
            continue
        if not line:
            continue
        try:
            if places == (0, 1) and len(parts) != 2 and number == 1:
                raise ValueError
            points.append((float(parts[places[0]]), float(parts[places[1]])))
        except (ValueError, IndexError):
            raise ValueError(
                f"line {number} of {path} is {line!r}; each line has two numbers, row and column, with a comma between"
            ) from None
    return np.array(points, dtype=np.float64).reshape(-1, 2)
