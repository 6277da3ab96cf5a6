"""One image of a run: read, segmented, measured and written as a folder that is whole or not there."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_folder, file_digest
from declump.batch.options import Options
from declump.batch.rehearsal import two_discs
from declump.batch.resources import check_memory, free_memory
from declump.batch.sources import Source
from declump.batch.workers import check_parent, tell_parent
from declump.images.focus import fuse_stack
from declump.images.stacks import pages_of
from declump.io import read_image, read_pixel_size, read_size, read_stack, write_results
from declump.io.formats.csv_table import write_table
from declump.io.formats.parts.tables import plain, plain_columns
from declump.io.results import earlier_files
from declump.measurements import measure
from declump.measurements.quality import VERDICTS
from declump.records.segmentation import Segmentation
from declump.regions.channels import ImageChannels
from declump.regions.find import get_regions

RECORD = "summary.json"
"""Tells that the folder is complete: of all names it comes last, and files come into place in the order of names."""
CLUMPS = "clumps.csv"
GIVEN = "given"
"""Where the size of a pixel is from, if it was not read from the image."""
_FORMAT, _VERSION = "declump image", 2


def segment_image(source: Source, options: Options, folder: Path) -> dict[str, Any]:
    """Segment one image into a folder.

    Parameters
    ----------
    source : Source
    options : Options
    folder : Path
        Results in it are replaced.

    Returns
    -------
    dict
        What ``summary.json`` holds: where the image is, the size of its pixels, its measurements.
    """
    models = options.model_digests()
    tell_parent("reading")
    picture, planes = read_focused(source)
    pixel_size, origin = find_pixel_size(source.path, options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        result = options.segment(
            picture,
            options.region_options(pixel_size),
            progress=lambda done, total: tell_parent(f"evolution, {done} of {total} cells", now=False),
            stage=tell_parent,
        )
    warned = [str(warning.message) for warning in said]
    return store_image(source, options, folder, picture, result, pixel_size=(pixel_size, origin), models=models,
                       warned=warned, planes=planes)  # fmt: skip


def read_focused(source: Source) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Read an image for which there is memory; of a focus stack also which plane (H, W) each pixel came from."""
    pages = pages_of(source.path, source.page)
    check_memory(source.path, read_size(source.path, page=source.page), free_memory(), planes=len(pages))
    if len(pages) == 1:
        return read_image(source.path, page=source.page), None
    return fuse_stack(read_stack(source.path, page=source.page))


def store_image(
    source: Source,
    options: Options,
    folder: Path,
    picture: NDArray[Any],
    result: Segmentation,
    *,
    pixel_size: tuple[float | None, str | None],
    models: Mapping[str, str | None],
    warned: Sequence[str] = (),
    columns: Mapping[str, Sequence[Any]] | None = None,
    facts: Mapping[str, Any] | None = None,
    planes: NDArray[np.int32] | None = None,
) -> dict[str, Any]:
    """Measure the cells of one image, and write them into a folder that is whole or not there.

    Parameters
    ----------
    source : Source
    options : Options
    folder : Path
        Results in it are replaced.
    picture : (H, W[, channels])
    result : Segmentation
    pixel_size : (float, str)
        Micrometres a pixel, and who said so; None where that is not known.
    models : mapping of str to str
        See :meth:`Options.model_digests`.
    warned : sequence of str
        What was warned of on the way.
    columns : mapping of str to sequence, optional
        More columns of the table of cells.
    facts : mapping, optional
        More entries of the record.
    planes : (H, W) int32, optional
        Of a focus stack, which plane each pixel came from.

    Returns
    -------
    dict
        What ``summary.json`` holds.
    """
    size, origin = pixel_size
    tell_parent("measurements")
    measured = measure(result, picture, prior=options.prior, pixel_size=size, planes=planes)
    sure = measured.cells["confidence"] >= options.min_confidence
    if not sure.all():
        result = result.keep(sure)
        measured = measure(result, picture, prior=options.prior, pixel_size=size, planes=planes)
    doubts = [VERDICTS[measured.image["quality"]]] if measured.image["quality"] in VERDICTS else []
    record: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "path": source.shown_path,
        "page": source.page,
        "sha256": file_digest(source.path),
        "models": dict(models),
        "pixel_size": size,
        "pixel_size_from": origin,
        "warnings": [*warned, *doubts],
        "cells_left_out": int(np.count_nonzero(~sure)),
        "image": {name: plain(value) for name, value in measured.image.items()},
        **(facts or {}),
    }
    cells = {**measured.cells, **{name: np.asarray(values)[sure] for name, values in (columns or {}).items()}}
    tell_parent("writing")
    (folder / RECORD).unlink(missing_ok=True)
    with atomic_folder(folder, overwrite=True, own=[*earlier_files(folder), CLUMPS, RECORD]) as draft:
        write_results(
            result,
            draft,
            image=picture,
            formats=options.formats,
            measurements=cells,
            others=options.others,
            numbers=options.numbers,
            picture=source.path.name,
        )
        if "csv" in options.formats:
            write_table(plain_columns(measured.clumps), draft / CLUMPS)
        written = sorted(path for path in draft.rglob("*") if path.is_file())
        record["outputs"] = {path.relative_to(draft).as_posix(): file_digest(path) for path in written}
        (draft / RECORD).write_text(as_text(record), encoding="utf-8")
        check_parent()
    return record


@dataclass(frozen=True)
class ImageWork:
    """What a process does with each image of a run.

    Attributes
    ----------
    options : Options
    out : Path
        Folder of the run.
    """

    options: Options
    out: Path

    def __call__(self, source: Source | None) -> dict[str, Any]:
        """Segment one image and give its record; without an image, rehearse."""
        if source is not None:
            return segment_image(source, self.options, self.out / source.name)
        rehearse(self.options)
        return {}


def read_finished(source: Source, folder: Path, models: Mapping[str, str | None]) -> tuple[dict[str, Any] | None, str]:
    """Read the record of an image that is done.

    Parameters
    ----------
    source : Source
    folder : Path
        Of its results.
    models : mapping of str to str
        See :meth:`Options.model_digests`.

    Returns
    -------
    record : dict or None
        None if it is to be done again: what it was made from, or what was made, is not what it was.
    fault : str
        What is not as it was, if it had been done.
    """
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if (record["format"], record["version"]) != (_FORMAT, _VERSION):
            return None, f"{RECORD} is of another version"
        fault = _find_fault(record, source, folder, models)
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, f"{RECORD} is damaged"
    return (None, fault) if fault else ({**record, "path": source.shown_path}, "")


def _find_fault(record: dict[str, Any], source: Source, folder: Path, models: Mapping[str, str | None]) -> str:
    """Say what has changed since an image was done; nothing if nothing has."""
    if record["page"] != source.page or record["sha256"] != file_digest(source.path):
        return "the image has changed"
    for name, content in models.items():
        if record["models"][name] != content:
            return f"the {name} model has changed" if name != "prior" else "the prior has changed"
    for name, content in record["outputs"].items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if file_digest(path) != content:
            return f"{name} has changed"
    return ""


def rehearse(options: Options) -> None:
    """Do all of it with two discs, so that what cannot be done is said before any work.

    Raises
    ------
    ValueError, OSError
        If an option is wrong, a model is missing, or a library that a format needs.
    """
    image, known = two_discs()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as scratch:
        warnings.simplefilter("ignore")
        get_regions(ImageChannels(image), options.region_options())
        result = options.segment(image, known)
        measured = measure(result, image, prior=options.prior, pixel_size=options.pixel_size)
        write_results(result, Path(scratch), image=image, formats=options.formats, measurements=measured.cells)


def as_text(content: Mapping[str, Any]) -> str:
    """JSON for files."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def find_pixel_size(path: Path, options: Options) -> tuple[float | None, str | None]:
    """Micrometres a pixel, and who said so."""
    if options.pixel_size is not None:
        return options.pixel_size, GIVEN
    return read_pixel_size(path) or (None, None)
