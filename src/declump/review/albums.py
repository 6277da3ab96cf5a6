"""What a review is about: images, or one slide."""

from __future__ import annotations

from pathlib import Path

from declump.batch.sources import RUN_FILE
from declump.review.album import Album, Entry, open_album
from declump.review.images import FOLDER, saved_edits
from declump.review.log import FILE, read_log
from declump.review.slides.album import is_slide, open_slide_album


def find_album(given: Path, out: Path | None = None) -> Album:
    """Find the images, or the slide, of a review.

    Parameters
    ----------
    given : Path
        A slide, or results of one (:func:`declump.review.slides.album.is_slide`); or what
        :func:`declump.review.album.open_album` takes.
    out : Path, optional
        Folder of the results; by default the results folder given, or one beside the images, named after them.
    """
    return open_slide_album(given, out) if is_slide(given) else open_album(given, out)


def list_unsaved(results: Path) -> list[Entry]:
    """Give the images of a results folder whose log holds edits that their results do not."""
    if not is_slide(results) and not (results / RUN_FILE).is_file():
        return []  # a slide that was not segmented to its end
    return [entry for entry in find_album(results).entries.values() if _count_edits(entry) > saved_edits(entry.folder)]


def _count_edits(entry: Entry) -> int:
    path = entry.folder / FOLDER / FILE
    return max(len(read_log(path)[0]) - 1, 0) if path.is_file() else 0
