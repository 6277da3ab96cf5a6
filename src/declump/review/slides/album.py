"""A review of one slide: found as a file or as results, segmented in the background if it is not yet."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from declump._files import check_free
from declump._locks import hold_folder
from declump.batch.options import Options
from declump.batch.sources import Source
from declump.batch.workers import Workers, tell_parent
from declump.errors import sentence
from declump.images.decoding import ENDINGS, find_format
from declump.io import read_size
from declump.io.slide_results import RECORD_FILE, is_slide_results
from declump.review.album import Album, Entry
from declump.review.slides.image import summary_of
from declump.slides import SlideOptions, open_slide, segment_slide
from declump.slides.record import SlideRecord
from declump.slides.run import SUMMARY_FILE

LARGE = 64 * 2**20
"""Pixels from which an image is opened as a slide: read in parts, and segmented clump by clump."""
SLIDE = "slide"
"""Kind of the entry of a slide."""


@dataclass
class SlideAlbum(Album):
    """One slide: shown at once, with its cells when they are found."""

    _held: ExitStack = field(default_factory=ExitStack, init=False, repr=False)

    @property
    def slide(self) -> Entry:
        """The slide."""
        return next(iter(self.entries.values()))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep others from writing into the folder; while the slide is segmented, the run itself does."""
        with self._held:
            if self.slide.status == "ready":
                self._held.enter_context(hold_folder(self.out))
            yield

    def prepare(self, tell: Callable[[Entry], None], stopped: threading.Event) -> None:
        """Segment the slide in a process beside this one, if that is not done."""
        entry = self.slide
        if entry.status != "waiting":
            return
        entry.status = "working"
        tell(entry)

        def hear(_: Any, word: str) -> None:
            entry.doing = word
            tell(entry)

        with Workers(1, SlideWork(self.out), hear) as workers:
            threading.Thread(target=_stop_then, args=(stopped, workers), daemon=True).start()
            try:
                for _, answer in workers.answers(iter([entry.source])):
                    if stopped.is_set():
                        return
                    entry.record, entry.reason = answer.record, answer.reason
            except (OSError, ValueError) as error:
                entry.reason = sentence(error)
        if stopped.is_set():
            return
        if entry.record is not None:
            try:
                self._held.enter_context(hold_folder(self.out))
            except OSError as error:
                entry.record, entry.reason = None, sentence(error)
        entry.status = "failed" if entry.record is None else "ready"
        tell(entry)

    def write(self) -> None:
        """Write nothing: the results of a slide tell of themselves."""


@dataclass(frozen=True)
class SlideWork:
    """What a process does with a slide: find its cells, going on where an earlier run stopped."""

    out: Path

    def __call__(self, source: Source | None) -> dict[str, Any]:
        """Segment the slide, giving way to whoever is at the page."""
        if source is None:
            return {}
        with suppress(OSError, AttributeError):
            os.nice(10)

        def progress(stage: str, done: int, total: int, cells: int) -> None:
            found = f", {cells} cells" if cells else ""
            tell_parent(f"{stage} {done} of {total}{found}", now=done == total)

        begun = (self.out / RECORD_FILE).is_file()
        options = SlideRecord.read(self.out).options if begun else SlideOptions()
        tell_parent("finding out how large its cells are")
        # What a run that was killed before its record left behind is no run: it is begun anew.
        segment_slide(source.path, self.out, options, workers=0, resume=begun, overwrite=not begun, progress=progress)
        return summary_of(self.out)


def is_slide(path: Path) -> bool:
    """Whether a path is a slide, or results of one.

    A slide is what only OpenSlide reads, an OME-Zarr folder, a TIFF with a pyramid, or a very large image.
    """
    if path.is_dir():
        return is_slide_results(path) or any((path / name).is_file() for name in ("zarr.json", ".zattrs", ".zgroup"))
    if not path.is_file():
        return False
    if path.suffix.lower() not in ENDINGS:
        return True
    try:
        height, width = read_size(path)
        return height * width >= LARGE or (find_format(path) == "TIFF" and _has_pyramid(path))
    except (ValueError, OSError):
        return False


def _has_pyramid(path: Path) -> bool:
    from tifffile import TiffFile

    with TiffFile(path) as file:
        return len(file.series[0].levels) > 1


def open_slide_album(given: Path, out: Path | None = None) -> SlideAlbum:
    """Open a slide, or its results, for review.

    Parameters
    ----------
    given : Path
        See :func:`is_slide`.
    out : Path, optional
        Folder of the results; by default the one given, or one beside the slide, named after it.

    Raises
    ------
    FileExistsError, PermissionError, ValueError
        If the folder cannot be written to, or holds something else.
    """
    if is_slide_results(given):
        if out is not None and out.resolve() != given.resolve():
            raise ValueError(f"{given} holds results, which are reviewed where they are; leave --out away")
        out = given
        path = Path(SlideRecord.read(out).slide)
        if not path.exists():
            raise FileNotFoundError(f"the slide {path} of the results in {out} is gone; put it back to review them")
    else:
        path, out = given, out or given.parent / f"{given.name.split('.')[0]}-declump"
        check_free(out, overwrite=True)
        if out.is_dir() and not is_slide_results(out) and any(place.name[0] != "." for place in out.iterdir()):
            raise FileExistsError(f"the folder {out} holds something else than results; give another with --out")
        open_slide(path)  # what cannot be read is said before anything is shown
    name = path.name.split(".")[0]
    entry = Entry(hashlib.sha256(name.encode()).hexdigest()[:16], Source(path.resolve(), name), out, kind=SLIDE)
    if (out / SUMMARY_FILE).is_file():
        entry.status, entry.record = "ready", summary_of(out)
    return SlideAlbum({entry.id: entry}, out, Options(), path.name)


def _stop_then(stopped: threading.Event, workers: Workers) -> None:
    stopped.wait()
    workers.stop()
