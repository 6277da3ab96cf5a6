"""The images of a review: found in files, a folder or results, and prepared one after the other in the background."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from declump._files import check_free, check_links, file_digest
from declump._locks import hold_folder
from declump.batch.image import RECORD
from declump.batch.options import Options
from declump.batch.run import Outcome, begin_run, write_run
from declump.batch.sources import IMAGES_FILE, RUN_FILE, Source, find_sources
from declump.batch.workers import Workers
from declump.errors import sentence
from declump.report.run import RunSummary, read_run
from declump.review.images import PrepareWork

COMMAND = "declump open"
"""What ``run.json`` says of where results are from."""


@dataclass
class Entry:
    """One image of an album.

    Attributes
    ----------
    id : str
        What the page calls it; nothing of a path is in it.
    source : Source
    folder : Path
        Of its results.
    status : str
        "waiting", "working", "ready" or "failed".
    reason : str
        Why it failed.
    record : dict, optional
        What ``summary.json`` of its results holds.
    kind : str
        "image" or "slide".
    doing : str
        What is being done to it just now.
    """

    id: str
    source: Source
    folder: Path
    status: str = "waiting"
    reason: str = ""
    record: dict[str, Any] | None = None
    kind: str = "image"
    doing: str = ""


@dataclass
class Album:
    """All images of a review, in the order in which they were found.

    Attributes
    ----------
    entries : dict of str to Entry
        By their ids.
    out : Path
        Folder of the results.
    options : Options
    title : str
    """

    entries: dict[str, Entry]
    out: Path
    options: Options
    title: str
    _urgent: list[str] = field(default_factory=list, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other processes from writing into the folder of the results."""
        with hold_folder(self.out):
            yield

    def hurry(self, entry: Entry) -> None:
        """Have an image prepared next."""
        with self._lock:
            self._urgent.append(entry.id)

    def prepare(self, tell: Callable[[Entry], None], stopped: threading.Event) -> None:
        """Prepare all images in a process beside this one, until they are done or it is to stop.

        Parameters
        ----------
        tell : callable
            Called with an entry whenever its status has changed.
        stopped : Event
        """
        begun: list[Entry] = []

        def tasks() -> Iterator[Source]:
            while not stopped.is_set() and (entry := self._next()) is not None:
                entry.status = "working"
                begun.append(entry)
                tell(entry)
                yield entry.source

        with Workers(1, PrepareWork(self.options, self.out)) as workers:
            threading.Thread(target=_stop_then, args=(stopped, workers), daemon=True).start()
            try:
                workers.rehearse()
                for source, answer in workers.answers(tasks()):
                    entry = next(one for one in begun if one.source == source)
                    if stopped.is_set():
                        return
                    entry.record, entry.reason = answer.record, answer.reason
                    entry.status = "failed" if answer.record is None else "ready"
                    tell(entry)
            except (OSError, ValueError) as error:
                if stopped.is_set():
                    return
                for entry in self.entries.values():
                    if entry.status in ("waiting", "working"):
                        entry.status, entry.reason = "failed", sentence(error)
                        tell(entry)
        self.write()

    def write(self) -> None:
        """Write ``run.json`` and ``images.csv`` of the results."""
        outcomes = [Outcome(entry.source, entry.record, entry.reason) for entry in self.entries.values()]
        write_run(self.out, self.options, outcomes, COMMAND)

    def _next(self) -> Entry | None:
        with self._lock:
            names = [*reversed(self._urgent), *self.entries]
            return next((self.entries[name] for name in names if self.entries[name].status == "waiting"), None)


def _stop_then(stopped: threading.Event, workers: Workers) -> None:
    stopped.wait()
    workers.stop()


def open_album(given: Path, out: Path | None = None, options: Options | None = None) -> Album:
    """Find the images of a review.

    Parameters
    ----------
    given : Path
        An image; a folder of images; or a results folder of ``declump segment`` or of an earlier review, whose options
        are taken.
    out : Path, optional
        Folder of the results; by default the results folder given, or one beside the images, named after them.
    options : Options, optional
        For images that have no results yet.

    Raises
    ------
    FileNotFoundError, ValueError, PermissionError
        If there is no image, cells were left out, or the folder cannot be written to.
    """
    if not given.exists():
        raise FileNotFoundError(f"there is no {given}; give an image, a folder of images, or a results folder")
    if (given / RUN_FILE).is_file():
        if out is not None and out.resolve() != given.resolve():
            raise ValueError(f"{given} holds results, which are reviewed where they are; leave --out away")
        return _from_results(given)
    out = out or given.parent / f"{given.stem if given.is_file() else given.resolve().name}-declump"
    check_free(out, overwrite=True)
    if (out / RUN_FILE).is_file():
        options = _read_options(out, read_run(out))
    elif out.is_dir() and any(path.name[0] != "." for path in out.iterdir()):
        raise FileExistsError(f"the folder {out} holds something else than results; give another with --out")
    sources = find_sources([given], out=out)
    root = None if given.is_file() else given.resolve()
    entries = [_enter(source, out, root) for source in sources]
    album = Album({entry.id: entry for entry in entries}, out, _check(options or Options()), given.name)
    out.mkdir(parents=True, exist_ok=True)
    check_links(out, [RUN_FILE, IMAGES_FILE])
    begin_run(out, album.options, sources, COMMAND)
    return album


def _from_results(folder: Path) -> Album:
    run = read_run(folder)
    options = _read_options(folder, run)
    entries = []
    for image in run.images:
        original = _find_original(folder, image.path)
        entry = _enter(Source(original, image.name, image.page), folder, original.parent.resolve())
        if not entry.reason and not entry.source.path.is_file():
            entry.status, entry.reason = "failed", f"the image {image.path} is gone"
        elif not entry.reason and _has_changed(entry):
            entry.status, entry.reason = "failed", f"the image {image.path} is not the one that was segmented"
        entries.append(entry)
    return Album({entry.id: entry for entry in entries}, folder, options, folder.resolve().name)


def _read_options(folder: Path, run: RunSummary) -> Options:
    try:
        return _check(Options.from_record(run.settings))
    except ValueError as error:
        raise ValueError(f"the results in {folder} cannot be reviewed: {error}") from error


def _check(options: Options) -> Options:
    if options.min_confidence:
        raise ValueError("cells were left out by their confidence; segment the images with --min-confidence 0")
    return options


def _enter(source: Source, out: Path, root: Path | None) -> Entry:
    """Make an entry; one whose name or place is not as it should be has failed already."""
    entry = Entry(
        hashlib.sha256(source.name.encode(errors="surrogateescape")).hexdigest()[:16], source, out / source.name
    )
    reason = f"{source.shown_path} {source.fault}" if source.fault else ""
    if root is not None and root not in source.path.resolve().parents:
        reason = f"{source.shown_path} is a link to a place outside the folder"
    if not reason:
        try:
            check_links(out, [f"{source.name}/{RECORD}"])
        except FileExistsError as error:
            reason = str(error)
    if reason:
        entry.status, entry.reason = "failed", reason
    return entry


def _find_original(folder: Path, path: str) -> Path:
    """Where an image of a run is: a relative path is one from where the command ran."""
    places = [Path(path), folder / path, folder.parent / path]
    return next((place for place in places if path and place.is_file()), Path(path))


def _has_changed(entry: Entry) -> bool:
    try:
        record = json.loads((entry.folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False  # it was not segmented yet
    return not isinstance(record, dict) or record.get("sha256") != file_digest(entry.source.path)
