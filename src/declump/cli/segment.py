"""``declump segment``: whole cells from images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from declump.cli.evolve import listing, summary
from declump.cli.terminal import progress_bar

if TYPE_CHECKING:
    from declump.segmentation import Segmentation

AREAS = "In square micrometres if --pixel-size is given, else in square pixels."
IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff")


def segment(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE...", help="Images, or folders of images.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the results, one folder an image in it.")],
    regions: Annotated[
        str, typer.Option(help="'default', 'classical', or a model of 'declump train regions'.")
    ] = "default",
    prior: Annotated[str, typer.Option(help="'default', or a file of 'declump train prior'.")] = "default",
    setting: Annotated[
        Literal["joint", "paper"], typer.Option(help="'joint', or 'paper' for the published method read literally.")
    ] = "joint",
    pixel_size: Annotated[float | None, typer.Option(help="Micrometres a pixel.")] = None,
    diameter: Annotated[float | None, typer.Option(help="Usual diameter of a nucleus in pixels.")] = None,
    least_nucleus: Annotated[float | None, typer.Option(help="Smallest area of a nucleus. " + AREAS)] = None,
    least_clump: Annotated[float | None, typer.Option(help="Smallest area of a clump. " + AREAS)] = None,
    largest_hole: Annotated[float | None, typer.Option(help="Largest hole that is filled. " + AREAS)] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace results that are in the folders.")] = False,
) -> None:
    """Find every cell of images, whole."""
    from declump.io.folders import check_free

    paths = [path for given in images for path in _images_of(given)]
    folders = [out / path.stem for path in paths]
    if len(set(folders)) < len(folders):
        twice = next(path for index, path in enumerate(paths) if folders.index(folders[index]) < index)
        raise ValueError(f"two images are called {twice.stem}, so that their results would share a folder; rename one")
    for folder in folders:
        check_free(folder, overwrite=overwrite)
    finding = {
        "model": regions,
        "diameter": diameter,
        "pixel_size": pixel_size,
        "least_nucleus": least_nucleus,
        "least_clump": least_clump,
        "largest_hole": largest_hole,
    }
    for path, folder in zip(paths, folders, strict=True):
        result, files = segment_file(path, folder, finding, overwrite=overwrite, prior=prior, setting=setting)
        typer.echo(f"{path}: {summary(result)}")
        for line in listing(files):
            typer.echo(line)


def segment_file(
    path: Path, folder: Path, finding: Mapping[str, Any] | None = None, *, overwrite: bool = False, **options: Any
) -> tuple[Segmentation, dict[str, Path]]:
    """Read an image, find its cells and write the results.

    Options go to :func:`declump.segment`, those in ``finding`` to :func:`declump.find_regions`.

    Returns
    -------
    segmentation : Segmentation
    files : dict of str to Path
        See :func:`declump.io.write_results`.
    """
    import declump
    from declump import io

    picture = io.read_image(path)
    with progress_bar(f"cells of {path.name}") as progress:
        regions = declump.find_regions(picture, **(finding or {}))
        result = declump.segment(picture, regions=regions, progress=progress, **options)
    return result, io.write_results(result, folder, image=picture, overwrite=overwrite)


def _images_of(given: Path) -> list[Path]:
    """Give the image itself, or the images in a folder, sorted."""
    if not given.is_dir():
        return [given]
    found = sorted(path for path in given.iterdir() if path.suffix.lower() in IMAGE_ENDINGS)
    if not found:
        raise FileNotFoundError(f"the folder {given} holds no image ({', '.join(IMAGE_ENDINGS)})")
    return found
