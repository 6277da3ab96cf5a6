"""``declump evaluate``: figures of predicted cells against the truth."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import declump
from declump._files import atomic_file
from declump.cli.terminal import progress_bar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN = ("dice_all", "dice_good", "fno", "fdo", "aji")
"""Figures of each image, where there are several."""


def evaluate(
    truth: Annotated[Path, typer.Argument(help="Whole masks of the true cells, of one image or of many.")],
    predicted: Annotated[Path, typer.Argument(help="Whole masks of the cells that were found.")],
    matching: Annotated[
        Literal["greedy", "hungarian", "isbi2014"], typer.Option(help="How true and predicted cells are paired.")
    ] = "greedy",
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Dice above which a cell is good.")] = 0.7,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    worst: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Picture to draw of the cells that were found worst.")
    ] = None,
) -> None:
    """Compare predicted cells with the true ones.

    TRUTH and PREDICTED are each a folder of 'declump segment -o', a folder of frames with cells/*.png as in ISBI 2015,
    a folder of label images (Cellpose, StarDist: every number a cell), GeoJSON files or ROI archives, or a COCO file,
    paired by the names of the images. Or the cells of one image: a results folder or a file of it, a folder with
    cells/*.png, a folder or TIFF with a mask a cell, a label image, or an .npz file with an array 'masks'.
    """
    pairs = declump.io.pair_cell_sets(declump.io.find_cell_sets(truth), declump.io.find_cell_sets(predicted))
    scores: dict[str, declump.Score] = {}
    cells: list[declump.pictures.FoundCell] = []
    with progress_bar("images") as progress:
        for number, (name, read_truth, read_predicted) in enumerate(pairs, start=1):
            true = read_truth(None)
            found = read_predicted((true.shape[1], true.shape[2]))
            scores[name] = declump.score(true, found, matching=matching, threshold=threshold)
            cells += _found_cells(name, scores[name], true, found) if worst is not None else ()
            progress(number, len(pairs))
    if worst is not None:
        _write_picture(cells, worst)
    pooled = declump.evaluation.pool(list(scores.values()))
    if json:
        typer.echo(dumps(_record(pooled) if len(scores) == 1 else _records(scores, pooled), indent=2))
        return
    if len(scores) > 1:
        _print_images(scores)
    _print_table(pooled, len(scores))
    if len(scores) > 1 and (interval := _interval(scores)) is not None:
        typer.echo(f"dice_all {interval.estimate:.4f}, {interval.low:.4f} to {interval.high:.4f} (95 %, over images)")
    if worst is not None:
        typer.echo(f"worst     {worst}")


def read_cells(path: Path) -> NDArray[np.bool_]:
    """Read whole masks (N, H, W) of the cells of one image, from any of the places a command takes them from."""
    found = declump.io.find_cell_sets(path)
    if len(found) != 1:
        raise ValueError(f"{path} holds the cells of {len(found)} images; give those of one")
    (reader,) = found.values()
    return reader(None)


def _found_cells(
    name: str, score: declump.Score, truth: NDArray[np.bool_], found: NDArray[np.bool_]
) -> list[declump.pictures.FoundCell]:
    """Pair every true cell with its prediction, for a picture."""
    return [
        declump.pictures.FoundCell.from_masks(
            f"{name} {index + 1}".strip(), score.dice[index], truth[index], found[match] if match >= 0 else None
        )
        for index, match in enumerate(score.matched.tolist())
    ]


def _write_picture(cells: list[declump.pictures.FoundCell], path: Path) -> None:
    from PIL import Image

    with atomic_file(path) as draft:
        Image.fromarray(declump.pictures.worst_cells(cells)).save(draft, "PNG")


def _interval(scores: dict[str, declump.Score]) -> declump.evaluation.Interval | None:
    """Interval of the mean Dice over all cells; None where fewer than two images have one."""
    dice = [score.dice for score in scores.values() if len(score.dice)]
    return declump.evaluation.bootstrap_interval(dice) if len(dice) > 1 else None


def _records(scores: dict[str, declump.Score], pooled: declump.Score) -> dict[str, object]:
    interval = _interval(scores)
    return {
        "images": {name: _record(score) for name, score in scores.items()},
        "all": _record(pooled),
        "dice_all_interval": None if interval is None else [interval.low, interval.high],
    }


def _record(result: declump.Score) -> dict[str, object]:
    """Everything a program may want to know; what is undefined is None."""
    import numpy as np

    return {
        "true_cells": len(result.dice),
        "predicted_cells": result.n_predicted,
        "matching": result.matching,
        "threshold": result.threshold,
        **{name: None if np.isnan(value) else value for name, value in result.figures().items()},
        "dice_by_overlap": [None if np.isnan(value) else float(value) for value in result.dice_by_overlap],
    }


def _print_images(scores: dict[str, declump.Score]) -> None:
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    table = Table()
    table.add_column("image")
    for name in ("true", "found", *SHOWN):
        table.add_column(name, justify="right")
    for name, score in scores.items():
        figures = score.figures()
        values = ("-" if np.isnan(figures[one]) else f"{figures[one]:.4f}" for one in SHOWN)
        table.add_row(name, str(len(score.dice)), str(score.n_predicted), *values)
    Console().print(table)


def _print_table(result: declump.Score, images: int) -> None:
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"{'' if images == 1 else f'{images} images: '}{len(result.dice)} true cells, {result.n_predicted} "
        f"predicted, {result.matching} matching, "
        f"good above Dice {result.threshold:g}",
        title_justify="left",
    )
    table.add_column("figure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("meaning")
    for name, value in result.figures().items():
        meaning = (getattr(type(result), name).__doc__ or "").replace("`", "")
        table.add_row(name, "-" if np.isnan(value) else f"{value:.4f}", meaning)
    Console().print(table)
