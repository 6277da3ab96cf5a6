"""The edits of a review made again, without a page: what is in the logs comes into the results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from declump.batch.sources import RUN_FILE
from declump.review.album import Album, Entry
from declump.review.albums import find_album
from declump.review.images import FOLDER, ReviewedImage, prepare_image, saved_edits
from declump.review.log import FILE, read_log
from declump.review.slides.album import SLIDE, is_slide
from declump.review.slides.image import ReviewedSlide


def list_unsaved(results: Path) -> list[Entry]:
    """Give the images of a results folder whose log holds edits that their results do not."""
    if not is_slide(results) and not (results / RUN_FILE).is_file():
        return []  # a slide that was not segmented to its end
    return [entry for entry in find_album(results).entries.values() if _count_edits(entry) > saved_edits(entry.folder)]


def replay_results(
    results: str | Path, *, everything: bool = False, progress: Callable[[int, int], None] | None = None
) -> list[tuple[str, int, int]]:
    """Make the edits in the logs of a results folder again, and write what follows from them.

    Parameters
    ----------
    results : str or Path
    everything : bool
        Also images whose results hold all edits already.
    progress : callable, optional
        Called with the number of images done and in all.

    Returns
    -------
    list of (name, edits, cells)
        Of the images that were written.

    Raises
    ------
    BlockingIOError
        If a review of the folder is open.
    ValueError
        If a log does not belong to its image any more.
    """
    album = find_album(Path(results))
    if album.out.resolve() != Path(results).resolve():
        raise FileNotFoundError(f"{results} is no results folder; give one that 'declump open' wrote")
    with album.hold():
        chosen = [
            entry
            for entry in album.entries.values()
            if (count := _count_edits(entry)) and (everything or count > saved_edits(entry.folder))
        ]
        done = []
        for number, entry in enumerate(chosen, start=1):
            if entry.reason:
                raise ValueError(entry.reason)
            image = open_entry(album, entry)
            try:
                entry.record = image.save()
                done.append((entry.source.name, len(image.log.records), int(entry.record["image"]["cells"])))
            finally:
                image.close()
            if progress:
                progress(number, len(chosen))
        return done


def open_entry(album: Album, entry: Entry) -> ReviewedImage | ReviewedSlide:
    """Open an image or a slide with its edits, found anew if need be."""
    if entry.kind == SLIDE:
        return ReviewedSlide(entry.folder)
    prepare_image(entry.source, album.options, entry.folder)
    return ReviewedImage(entry.source, album.options, entry.folder)


def _count_edits(entry: Entry) -> int:
    path = entry.folder / FOLDER / FILE
    return max(len(read_log(path)[0]) - 1, 0) if path.is_file() else 0
