"""One image of a review: found once, opened with its edits, saved as it is on the screen."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import check_links, file_digest
from declump.batch.image import find_pixel_size, read_finished, read_focused, rehearse, store_image
from declump.batch.options import Options
from declump.batch.sources import Source
from declump.pictures import to_display
from declump.review.edits import VERDICTS
from declump.review.found import FILE as FOUND
from declump.review.found import read_found, write_found
from declump.review.log import FILE as EDITS
from declump.review.log import EditLog
from declump.review.session import Session, find_image

FOLDER = "review"
"""What lies beside the results of an image: what was found at first, and the edits."""
_FREE_OF = ("formats", "others", "min_confidence")
"""Options that outlines do not follow from."""


def prepare_image(source: Source, options: Options, folder: Path) -> dict[str, Any]:
    """Find regions and cells of an image, and keep them for a review.

    What an earlier review or run left is taken as it is, if image, models and options are what they were.

    Returns
    -------
    dict
        What ``summary.json`` of its results holds.
    """
    check_links(folder, [f"{FOLDER}/{FOUND}", f"{FOLDER}/{EDITS}"])
    models = options.model_digests()
    origin = _origin(source, options, models)
    record, _ = read_finished(source, folder, models)
    if record is not None and _is_found(folder, origin):
        return record
    picture, planes = read_focused(source)
    pixel_size = find_pixel_size(source.path, options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        found = find_image(picture, options, pixel_size[0])
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    write_found(found, origin, folder / FOLDER / FOUND)
    if record is None:
        warned = [str(warning.message) for warning in said]
        record = store_image(source, options, folder, picture, found.result, pixel_size=pixel_size, models=models,
                             warned=warned, planes=planes)  # fmt: skip
    return record


@dataclass(frozen=True)
class PrepareWork:
    """What a process does with each image of a review: see :func:`prepare_image`.

    Attributes
    ----------
    options : Options
    out : Path
        Folder of the results.
    """

    options: Options
    out: Path

    def __call__(self, source: Source | None) -> dict[str, Any]:
        """Prepare one image; without an image, give way to whoever is at the page, and rehearse."""
        if source is not None:
            return prepare_image(source, self.options, self.out / source.name)
        with suppress(OSError, AttributeError):
            os.nice(10)
        rehearse(self.options)
        return {}


class ReviewedImage:
    """An image with its session and its log.

    Parameters
    ----------
    source : Source
    options : Options
    folder : Path
        Of its results, where :func:`prepare_image` has been.
    """

    def __init__(self, source: Source, options: Options, folder: Path) -> None:
        self.source, self.options, self.folder = source, options, folder
        place = folder / FOLDER
        check_links(folder, [f"{FOLDER}/{FOUND}", f"{FOLDER}/{EDITS}"])
        found, origin = read_found(place / FOUND)
        if origin != _origin(source, options, options.model_digests()):
            raise ValueError(f"{source.shown_path} or the options have changed since it was prepared; open it anew")
        self.picture, self.planes = read_focused(source)
        self.session = Session(self.picture, found, options)
        self.log = EditLog(place / EDITS, {"image": origin["image"], "found": file_digest(place / FOUND)})
        for record in self.log.records:
            self.session.replay(record)

    def save(self, lock: AbstractContextManager[Any] | None = None) -> dict[str, Any]:
        """Write the cells, as they follow from the edits, in all formats of the options.

        Parameters
        ----------
        lock : context manager, optional
            Held while the state is looked at, so that nobody edits it meanwhile; not while cells are found.
        """
        session, options = self.session, self.options
        with lock or nullcontext():
            corrected, lines, done = session.corrected, len(self.log.records), session.done
            cells = [session.state.cells[number] for number in session.numbers]
        facts = {
            "review": {
                "edits": lines,
                "finished": done,
                **{
                    verdict: [row + 1 for row, cell in enumerate(cells) if cell.verdict == verdict]
                    for verdict in VERDICTS
                    if verdict
                },
            }
        }
        return store_image(
            self.source, options, self.folder, self.picture, session.evolve(corrected=corrected),
            pixel_size=find_pixel_size(self.source.path, options), models=options.model_digests(),
            columns={"verdict": [cell.verdict for cell in cells], "label": [cell.label for cell in cells]}, facts=facts,
            planes=self.planes,
        )  # fmt: skip

    def close(self) -> None:
        """Let go of the log."""
        self.log.close()


def saved_edits(folder: Path) -> int:
    """Number of edits that the results in a folder hold."""
    try:
        record = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        return int(record.get("review", {}).get("edits", 0))
    except (OSError, ValueError, TypeError, AttributeError):
        return 0


def make_thumbnail(picture: NDArray[Any], side: int) -> NDArray[np.uint8]:
    """Give a picture that is small enough to list, by means of pixels."""
    shown = to_display(picture)
    step = max(int(np.ceil(max(shown.shape[:2]) / side)), 1)
    height, width = (extent // step * step for extent in shown.shape[:2])
    blocks = shown[: height or None, : width or None]
    if not height or not width:
        return shown[::step, ::step]
    means = blocks.reshape(height // step, step, width // step, step, 3).mean(axis=(1, 3))
    return np.asarray(means.round(), dtype=np.uint8)


def _origin(source: Source, options: Options, models: Mapping[str, str | None]) -> dict[str, Any]:
    chosen = {name: value for name, value in options.record().items() if name not in _FREE_OF}
    return {"image": file_digest(source.path), "page": source.page, "models": dict(models), "options": chosen}


def _is_found(folder: Path, origin: Mapping[str, Any]) -> bool:
    try:
        return read_found(folder / FOLDER / FOUND)[1] == origin
    except (OSError, ValueError):
        return False
