"""``declump evaluate``: figures of predicted cells against the truth."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import declump

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def evaluate(
    truth: Annotated[Path, typer.Argument(help="Whole masks of the true cells.")],
    predicted: Annotated[Path, typer.Argument(help="Whole masks of the cells that were found.")],
    matching: Annotated[
        Literal["greedy", "hungarian", "isbi2014"], typer.Option(help="How true and predicted cells are paired.")
    ] = "greedy",
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Dice above which a cell is good.")] = 0.7,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare predicted cells with the true ones.

    TRUTH and PREDICTED are each a results folder or its contours.json, a folder with cells/*.png as in the ISBI 2015
    frames, a folder of PNG or TIFF masks, a TIFF with a page for each cell, or an .npz file with an array 'masks'.
    """
    result = declump.score(read_cells(truth), read_cells(predicted), matching=matching, threshold=threshold)
    if json:
        typer.echo(dumps(_record(result), indent=2))
    else:
        _print_table(result)


def read_cells(path: Path) -> NDArray[np.bool_]:
    """Read whole masks (N, H, W) of cells from any of the places a command writes them to, or a data set has them."""
    import numpy as np

    if path.suffix.lower() == ".json" or (path / "contours.json").is_file():
        return declump.io.read_contours(path).masks
    if (path / "cells").is_dir():
        if (path / "image.png").is_file() and not any((path / "cells").iterdir()):
            return np.zeros((0, *declump.io.read_image(path / "image.png").shape[:2]), dtype=np.bool_)
        return declump.io.read_mask_stack(path / "cells")
    return declump.io.read_mask_stack(path)


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


def _print_table(result: declump.Score) -> None:
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"{len(result.dice)} true cells, {result.n_predicted} predicted, {result.matching} matching, "
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
