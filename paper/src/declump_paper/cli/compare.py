"""``declump compare``: all methods side by side on one image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import declump
import declump_paper
from declump._files import check_free
from declump.cli.evaluate import read_cells
from declump.cli.terminal import progress_bar, split_words, tell


def compare(
    image: Annotated[Path, typer.Argument(metavar="IMAGE", help="The image.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the picture and the table.")],
    truth: Annotated[
        Path | None, typer.Option(help="Whole masks of the true cells, as 'declump evaluate' takes them.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="declump, lsf, mcl, mpw, cf or star, with commas; by default all."),
    ] = None,
    regions: Annotated[str, typer.Option(help="'default', or a model of 'declump train regions'.")] = "default",
    refined: Annotated[
        bool, typer.Option("--refined", help="Clean the network's regions by a Markov random field, as the paper does.")
    ] = False,
    prior: Annotated[str, typer.Option(help="'default', or a file of 'declump train prior'.")] = "default",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a comparison that is in the folder.")] = False,
) -> None:
    """Compare methods on one image: one picture, one table, the time of each, and Dice where the truth is known."""
    check_free(out, overwrite=overwrite)
    chosen = None if methods is None else split_words(methods)
    names = declump_paper.comparison.method_names(chosen)
    picture = declump.io.read_image(image)
    cells = None if truth is None else read_cells(truth)
    known = declump_paper.regions.find_regions(picture, model=regions, refined=True) if refined else regions
    with progress_bar("methods") as progress:
        compared = declump_paper.comparison.compare(
            picture, methods=names, regions=known, prior=prior, truth=cells, progress=progress
        )
    files = declump_paper.comparison.write_comparison(compared, picture, out, truth=cells, overwrite=overwrite)
    _print_table(compared)
    for what, ending in (("picture", "png"), ("table", "csv"), ("page", "md")):
        typer.echo(f"{what:<9} {files[ending]}")
    failed = [one for one in compared if one.segmentation is None]
    for one in failed:
        tell(f"{one.name} failed: {one.reason}")
    if failed:
        raise typer.Exit(1)


def _print_table(compared: Sequence[declump_paper.comparison.Compared]) -> None:
    from rich.console import Console
    from rich.table import Table

    scored = any(one.score is not None for one in compared)
    table = Table()
    table.add_column("method", no_wrap=True)
    for name in ("cells", "seconds", *(("Dice", "FNo") if scored else ())):
        table.add_column(name, justify="right", no_wrap=True)
    for one in compared:
        cells = "failed" if one.segmentation is None else str(len(one.segmentation))
        figures = ["-", "-"] if one.score is None else [f"{one.score.dice_all:.3f}", f"{one.score.fno:.3f}"]
        table.add_row(one.name, cells, f"{one.seconds:.2f}", *(figures if scored else ()))
    Console().print(table)
