"""The edits of a review made again, without a page: what is in the logs comes into the results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from declump._locks import hold_folder
from declump.review.album import Entry, open_album
from declump.review.images import FOLDER, ReviewedImage, prepare_image, saved_edits
from declump.review.log import FILE, read_log


def list_unsaved(results: Path) -> list[Entry]:
    """Give the images of a results folder whose log holds edits that their results do not."""
    return [entry for entry in open_album(results).entries.values() if _count_edits(entry) > saved_edits(entry.folder)]


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
    album = open_album(Path(results))
    if not (album.out / "run.json").is_file() or album.out.resolve() != Path(results).resolve():
        raise FileNotFoundError(f"{results} is no results folder; give one that 'declump open' wrote")
    with hold_folder(album.out):
        chosen = [
            entry
            for entry in album.entries.values()
            if (count := _count_edits(entry)) and (everything or count > saved_edits(entry.folder))
        ]
        done = []
        for number, entry in enumerate(chosen, start=1):
            if entry.reason:
                raise ValueError(entry.reason)
            prepare_image(entry.source, album.options, entry.folder)
            image = ReviewedImage(entry.source, album.options, entry.folder)
            try:
                entry.record = image.save()
                done.append((entry.source.name, len(image.log.records), int(entry.record["image"]["cells"])))
            finally:
                image.close()
            if progress:
                progress(number, len(chosen))
        return done


def _count_edits(entry: Entry) -> int:
    path = entry.folder / FOLDER / FILE
    return max(len(read_log(path)[0]) - 1, 0) if path.is_file() else 0
