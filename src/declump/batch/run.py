"""A run over many images: taken up where it stopped, and told of in ``run.json`` and ``images.csv``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from declump import __version__
from declump._files import atomic_file, check_free, check_links, remove_drafts, write_atomically
from declump._locks import hold_folder
from declump.batch.coco_file import write_coco_file
from declump.batch.image import RECORD, ImageWork, as_text, read_finished
from declump.batch.options import Options
from declump.batch.resources import choose_jobs, free_memory, usable_cores
from declump.batch.sources import COCO_FILE, IMAGES_FILE, RUN_FILE, Source
from declump.batch.workers import Workers
from declump.errors import printable
from declump.io import read_size
from declump.io.formats.csv_table import write_table
from declump.io.formats.parts.tables import Columns


@dataclass(frozen=True)
class Outcome:
    """What became of one image.

    Attributes
    ----------
    source : Source
    record : dict, optional
        What ``summary.json`` of its results holds; None if it failed.
    reason : str
        Why it failed.
    seconds : float
        How long it took.
    earlier : bool
        Whether an earlier run had done it already.
    again : str
        What was not as an earlier run had left it, so that it was done again.
    """

    source: Source
    record: dict[str, Any] | None = None
    reason: str = ""
    seconds: float = 0.0
    earlier: bool = False
    again: str = ""

    @property
    def status(self) -> str:
        """One word: "done" or "failed"."""
        return "failed" if self.record is None else "done"

    @property
    def cells(self) -> int:
        """Number of cells that were found."""
        return 0 if self.record is None else int(self.record["image"]["cells"])


def run(
    sources: Sequence[Source],
    out: str | Path,
    options: Options | None = None,
    *,
    jobs: int | None = None,
    overwrite: bool = False,
    resume: bool = False,
    command: str = "",
    done: Callable[[Outcome], None] | None = None,
    doing: Callable[[Source, str], None] | None = None,
) -> list[Outcome]:
    """Segment images into a folder. One that fails does not stop the others.

    The files are the same whatever the number of processes, and whether the run was interrupted and taken up again.

    Parameters
    ----------
    sources : sequence of Source
        See :func:`find_sources`.
    out : str or Path
        Gets a folder for each image, ``run.json``, ``images.csv``, and a ``coco.json`` of all with the format ``coco``.
    options : Options, optional
    jobs : int, optional
        Number of processes; by default as many as there are cores, and memory for the largest image in each.
    overwrite : bool
        Whether results in the folder are replaced.
    resume : bool
        Whether images that an earlier run with the same options has finished are left as they are. What has changed
        since, an image, a model or a file of the results, is done again (``Outcome.again``).
    command : str
        What ``run.json`` is to say of where it came from.
    done : callable, optional
        Called with each outcome as it is ready.
    doing : callable, optional
        Called with an image and the stage that has begun, as "regions" or "evolution, 12 of 40 cells".

    Returns
    -------
    list of Outcome
        In the order of the sources.

    Raises
    ------
    FileExistsError, PermissionError
        If there are results in the folder, or it cannot be written to.
    BlockingIOError
        If another run is writing into it.
    ValueError
        If an option is wrong, or a run with other options is to be taken up.
    """
    out, options = Path(out), options or Options()
    check_free(out, overwrite=True)
    with hold_folder(out):
        return _run(sources, out, options, jobs, overwrite, resume, command, done, doing)


def _run(
    sources: Sequence[Source],
    out: Path,
    options: Options,
    jobs: int | None,
    overwrite: bool,
    resume: bool,
    command: str,
    done: Callable[[Outcome], None] | None,
    doing: Callable[[Source, str], None] | None,
) -> list[Outcome]:
    """Do what :func:`run` is asked for in a folder that no other run writes into."""
    outcomes = {
        source: Outcome(source, reason=f"{source.shown_path} {source.fault}") for source in sources if source.fault
    }
    named = [source for source in sources if source not in outcomes]
    check_links(out, [RUN_FILE, IMAGES_FILE, COCO_FILE, *(f"{source.name}/{RECORD}" for source in named)])
    earlier = _earlier(out, options, resume) if not overwrite else None
    if not overwrite:
        _check_free(out, named, ours=earlier or ())
    faults: dict[Source, str] = {}
    models = options.model_digests()
    for source in named if earlier is not None else ():
        record, faults[source] = read_finished(source, out / source.name, models)
        if record is not None:
            outcomes[source] = Outcome(source, record, earlier=True)
    left = [source for source in sources if source not in outcomes]

    def take(outcome: Outcome) -> None:
        outcomes[outcome.source] = outcome
        if done:
            done(outcome)

    if jobs is None:
        jobs = choose_jobs(len(left), _largest(left), cores=usable_cores(), free=free_memory())
    with Workers(min(jobs, len(left)), ImageWork(options, out), doing) as workers:
        if left:
            workers.rehearse()
        try:
            _prepare(out, left)
            begin_run(out, options, sources, command)
            for outcome in list(outcomes.values()):
                take(outcome)
            for source, answer in workers.answers(left):
                again = faults.get(source, "")
                take(Outcome(source, answer.record, answer.reason, answer.seconds, again=again))
            ordered = [outcomes[source] for source in sources]
            write_run(out, options, ordered, command)
        except BaseException:
            workers.stop()
            _remove_drafts(out, left)
            raise
    return ordered


def begin_run(out: Path, options: Options, sources: Sequence[Source], command: str) -> None:
    """Write what ``run.json`` tells of a run before any of its images is done."""
    images = [describe_image(source) for source in sources]
    write_atomically(out / RUN_FILE, as_text({**_describe_run(options, command), "images": images}))


def write_run(out: Path, options: Options, outcomes: Sequence[Outcome], command: str) -> None:
    """Write what ``run.json`` and ``images.csv`` tell of a run that has come to its end."""
    with atomic_file(out / IMAGES_FILE) as draft:
        write_table(_images_table(outcomes), draft)
    if "coco" in options.formats:
        write_coco_file([outcome.source for outcome in outcomes if outcome.record is not None], out)
    images = [describe_image(outcome.source, outcome) for outcome in outcomes]
    write_atomically(out / RUN_FILE, as_text({**_describe_run(options, command), "images": images}))


def _describe_run(options: Options, command: str) -> dict[str, Any]:
    return {"version": __version__, "command": command, "settings": options.record()}


def _earlier(out: Path, options: Options, resume: bool) -> list[str] | None:
    """Names of the images of the run in the folder, if it is to be taken up; None if there is no run."""
    path = out / RUN_FILE
    if not path.is_file():
        return None
    if not resume:
        raise FileExistsError(f"the folder {out} holds a run already; resume it, overwrite it, or give another folder")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version, settings = content["version"], content["settings"]
        names = [str(entry["name"]) for entry in content["images"]]
        differing = [name for name, value in options.record().items() if settings.get(name) != value]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is damaged ({error}), so that the run cannot be resumed; overwrite it") from error
    if version != __version__:
        raise ValueError(f"the run in {out} was made by declump {version}, this is {__version__}; overwrite it")
    if differing:
        name = differing[0]
        raise ValueError(
            f"the run in {out} had other settings ({name} was {settings.get(name)!r}, now {options.record()[name]!r}); "
            "give the same ones to resume it, or overwrite it"
        )
    return names


def _check_free(out: Path, sources: Iterable[Source], ours: Iterable[str]) -> None:
    own = set(ours)
    for source in sources:
        if source.name not in own:
            check_free(out / source.name)


def _largest(sources: Iterable[Source]) -> int:
    """Pixels of the largest image, by the first page of each file; one that cannot be read counts for nothing."""
    largest = 0
    for path, page in {source.path: source.page for source in reversed(list(sources))}.items():
        with suppress(OSError, ValueError):
            largest = max(largest, math.prod(read_size(path, page=page)))
    return largest


def _prepare(out: Path, left: Sequence[Source]) -> None:
    """Make the folder, clear away what killed processes left, and declare what is to be done anew not done."""
    out.mkdir(parents=True, exist_ok=True)
    _remove_drafts(out, left)
    for source in left:
        (out / source.name / RECORD).unlink(missing_ok=True)


def _remove_drafts(out: Path, sources: Iterable[Source]) -> None:
    places = {place for source in sources for place in ((out / source.name), *(out / source.name).parents)}
    for place in {out, *(place for place in places if out in place.parents)}:
        remove_drafts(place)


def describe_image(source: Source, outcome: Outcome | None = None) -> dict[str, Any]:
    """Give what ``run.json`` tells of an image; nothing in it depends on how long that took."""
    record = (outcome and outcome.record) or {}
    return {
        "path": source.shown_path,
        "page": source.page,
        "name": printable(source.name),
        "status": "pending" if outcome is None else outcome.status,
        "reason": "" if outcome is None else outcome.reason,
        "cells": record["image"]["cells"] if record else None,
        "pixel_size": record.get("pixel_size"),
        "pixel_size_from": record.get("pixel_size_from"),
        "warnings": record.get("warnings", []),
    }


def _images_table(outcomes: Sequence[Outcome]) -> Columns:
    """One row an image; what is not known of one, as its size in micrometres, is missing."""
    records: list[dict[str, Any]] = [outcome.record or {} for outcome in outcomes]
    # Images with a known size of pixels have more columns, in the same order: the longest row has all.
    measured: dict[str, Any] = max((record.get("image", {}) for record in records), key=len, default={})
    return {
        "name": [printable(outcome.source.name) for outcome in outcomes],
        "path": [outcome.source.shown_path for outcome in outcomes],
        "page": [outcome.source.page for outcome in outcomes],
        "status": [outcome.status for outcome in outcomes],
        "pixel_size_um": [record.get("pixel_size") for record in records],
        **{column: [record.get("image", {}).get(column) for record in records] for column in measured},
    }
