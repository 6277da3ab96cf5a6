"""What a review is about: images, or one slide."""

from __future__ import annotations

from pathlib import Path

from declump.review.album import Album, open_album
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
