"""``declump info``: what a file is."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import declump
from declump.models import read_card

Facts = Iterable[tuple[str, object]]


def info(
    file: Annotated[Path, typer.Argument(help="A file that declump wrote, a results folder, a prior or a model.")],
) -> None:
    """Say what a file of declump is, and what it holds."""
    for name, value in facts(file):
        typer.echo(f"{name:<9} {value}")


def facts(path: Path) -> Facts:
    """Find out what a file is.

    Returns
    -------
    iterable of (str, object)
        Names of facts, and the facts.

    Raises
    ------
    FileNotFoundError
        If there is nothing of that name.
    ValueError
        If declump does not know the file.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; give one that declump wrote")
    metadata = declump.io.find_metadata(path)
    if metadata is not None:
        return _of_metadata(metadata)
    if path.is_dir():
        return _of_folder(path)
    kinds = {".npz": _of_prior, ".onnx": _of_model, ".csv": _of_table}
    if path.suffix.lower() in kinds:
        return kinds[path.suffix.lower()](path)
    raise ValueError(f"{path} is no file that declump wrote, as far as can be seen from its content")


def _of_metadata(metadata: Mapping[str, Any]) -> Facts:
    formats = declump.io.FORMATS
    name = str(metadata["format"]).removeprefix("declump ")
    meaning = f": {formats[name].meaning}" if name in formats else ", which a later declump wrote"
    yield "format", f"{name}, version {metadata['version']}{meaning}"
    yield "image", "{} x {} pixels".format(*metadata["size"])
    yield "cells", metadata["cells"]
    yield "clumps", metadata["clumps"]


def _of_folder(folder: Path) -> Facts:
    present = [entry for entry in declump.io.FORMATS.values() if (folder / entry.file).exists()]
    if not present:
        raise ValueError(f"the folder {folder} holds no results of declump; give one that 'declump segment' wrote")
    yield "format", "a folder of results"
    metadata = next(filter(None, (declump.io.find_metadata(folder / entry.file) for entry in present)), None)
    yield from list(_of_metadata(metadata))[1:] if metadata else ()
    for entry in present:
        yield "file", f"{entry.file}: {entry.meaning}"


def _of_prior(path: Path) -> Facts:
    prior = declump.ShapePrior.load(path)
    yield "format", "shape prior of 'declump train prior'"
    yield "rays", prior.mean.size
    yield "modes", prior.variances.size
    yield "size", f"mean radius {prior.mean.mean():.1f} pixels"
    yield "reach", "learnt" if prior.reach else "not learnt"
    yield from _of_card(prior.card)


def _of_model(path: Path) -> Facts:
    try:
        card = read_card(path)
    except Exception as error:  # the runtime raises whatever a damaged file leads it to
        raise ValueError(f"{path} is no model of 'declump train'") from error
    if not card:
        raise ValueError(f"{path} is no model of 'declump train', which have a card")
    yield "format", "network of 'declump train'"
    yield from _of_card(card)


def _of_card(card: Mapping[str, Any]) -> Facts:
    """What a model was made from; of what repeats, such as the curve of a training, only the last is told."""
    for name, value in card.items():
        if isinstance(value, list) and value and isinstance(value[0], list | dict):
            yield f"{name}:", f"{len(value)} entries, the last {value[-1]}"
        else:
            yield f"{name}:", ", ".join(map(str, value)) if isinstance(value, list) else value


def _of_table(path: Path) -> Facts:
    """A CSV says nothing of itself but its columns."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file))
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path} is no table that can be read as CSV") from error
    if header[:1] != ["id"]:
        raise ValueError(f"{path} is no table of declump, whose first column is 'id'")
    yield "format", "csv: a table with a row for each cell"
    yield "cells", len(rows)
    yield "columns", ", ".join(header)
