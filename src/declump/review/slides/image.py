"""A slide of a review: opened with its edits, its cells by window, saved in the formats that its results have."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file, check_links, write_atomically
from declump.batch.image import as_text
from declump.datasets import corrected
from declump.io import open_slide_result
from declump.io.slide_results import FILE as CELLS
from declump.review.images import FOLDER
from declump.review.log import FILE as EDITS
from declump.review.log import EditLog
from declump.review.slides.pieces import OpenPiece, Rows, SolvedPiece
from declump.review.slides.session import Note, SlideSession
from declump.review.slides.teaching import annotate_piece
from declump.slides import FORMATS
from declump.slides.cells import make_plan
from declump.slides.gathering import gather
from declump.slides.opened import Opened, open_run
from declump.slides.readers import import_library
from declump.slides.run import OTHERS_FILE, SUMMARY_FILE, write_files
from declump.slides.store import Store

NOTES = "review.csv"
"""Cells that a person accepted, rejected or labelled, by their numbers in ``cells.parquet``."""
_PAINTED = "painted"
"""Name of the job with the cells of clumps that only a person saw."""


class ReviewedSlide:
    """A slide with its session and its log.

    Parameters
    ----------
    out : Path
        Folder of the results of ``declump slide``.

    Raises
    ------
    ValueError, OSError
        If slide or results are not there, or not of this version.
    """

    def __init__(self, out: Path) -> None:
        self.folder = out
        check_links(out, [f"{FOLDER}/{name}" for name in (CELLS, OTHERS_FILE, EDITS)])
        self.run: Opened = open_run(str(out))
        record = self.run.record
        if self.run.slide.shape != record.shape:
            raise ValueError(f"{record.slide} is not the slide that was segmented: its size is another")
        (out / FOLDER).mkdir(exist_ok=True)
        self.found = open_slide_result(self._keep(CELLS))
        if self.found.record != record.digest:  # of an earlier run; its log is put aside below
            (out / FOLDER / CELLS).unlink()
            (out / FOLDER / OTHERS_FILE).unlink(missing_ok=True)
            self.found = open_slide_result(self._keep(CELLS))
        self.others = self._keep(OTHERS_FILE)
        self.session = SlideSession(self.run, self.found)
        self.log = EditLog(out / FOLDER / EDITS, {"image": record.content, "found": record.digest})
        for line in self.log.records:
            self.session.replay(line)
        for piece in self.session.edited:
            self.solve(piece)

    def _keep(self, name: str) -> Path:
        """Keep a file as it was before any edit, once; numbers of cells in the log are those in it."""
        kept = self.folder / FOLDER / name
        if not kept.is_file():
            with atomic_file(kept) as draft:
                shutil.copyfile(self.folder / name, draft)
        return kept

    def read_others(self) -> tuple[NDArray[np.float64], list[str]]:
        """Read places (n, 2) and kinds of what is no cell, as it was found."""
        table = import_library("pyarrow.parquet").read_table(self.others, columns=["row_px", "column_px", "kind"])
        places = np.column_stack([table[name].to_numpy() for name in ("row_px", "column_px")])
        return places.astype(np.float64), table["kind"].to_pylist()

    def solve(self, piece: OpenPiece) -> None:
        """Find the cells of a piece from its corrected regions."""
        now = piece.session.corrected
        piece.solved = piece.describe(self.run, piece.session.evolve(corrected=now), now, piece.numbers)

    def save(self, lock: AbstractContextManager[Any] | None = None) -> dict[str, Any]:
        """Write all files of the results anew, with the cells of edited clumps found from their corrected regions."""
        with lock or nullcontext():
            session, lines, done = self.session, len(self.log.records), self.session.done
            notes = {number: note for number, note in session.notes.items() if session.has_cell(number)}
            taken = [(piece, piece.session.corrected, piece.numbers) for piece in session.edited]
        solved = [
            piece.describe(self.run, piece.session.evolve(corrected=corrected_now), corrected_now, numbers)
            for piece, corrected_now, numbers in taken
        ]
        if session.can_correct:
            self._write_cells(solved)
        self._write_notes(solved, notes)
        diameter = self.run.record.statistics.diameter
        taught = [image for one in solved if (image := annotate_piece(one, notes, diameter)) is not None]
        if taught:
            corrected.write(taught, self.folder / corrected.FILE)
        else:
            (self.folder / corrected.FILE).unlink(missing_ok=True)
        summary = json.loads((self.folder / SUMMARY_FILE).read_text(encoding="utf-8"))
        summary["review"] = {"edits": lines, "finished": done, "clumps_corrected": len(solved)}
        write_atomically(self.folder / SUMMARY_FILE, as_text(summary))
        return summary_of(self.folder)

    def _write_cells(self, solved: list[SolvedPiece]) -> None:
        store = self.run.store
        plan = make_plan(store)
        edited: dict[str, dict[str, NDArray[Any]]] = {}
        for one in solved:
            places = np.flatnonzero(np.isin(plan.pieces, one.piece.members))
            jobs = np.unique(np.searchsorted(plan.starts, places, side="right") - 1)
            first, *others = [plan.names[job] for job in jobs.tolist()] or [_PAINTED]
            for name in others:
                before = edited.get(name) or store.load("cells", name)
                edited[name] = _leave_out(before, one, self.session.seeds)
            before = edited.get(first) or (store.load("cells", first) if len(jobs) else {})
            edited[first] = _put_into(before, one, self.session.seeds)
        names = (*plan.names, *([_PAINTED] if _PAINTED in edited else []))
        plan = replace(plan, names=names)
        changed = EditedStore(store.out, store.record, edited)
        formats = tuple(name for name, file in FORMATS.items() if (self.folder / file).exists())
        write_files(changed, gather(changed, plan), plan, self.run.slide, formats)

    def _write_notes(self, solved: list[SolvedPiece], notes: Mapping[int, Note]) -> None:
        """Write what was said of cells, by their numbers in the file of cells that is written now."""
        table = open_slide_result(self.folder).read_columns(("id", "seed_row", "seed_column"))
        places = zip(table["seed_row"].tolist(), table["seed_column"].tolist(), strict=True)
        at = dict(zip(places, table["id"].tolist(), strict=True))
        seeds = {
            number: seed for one in solved for number, seed in zip(one.numbers, one.rows["seeds"].tolist(), strict=True)
        }
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["id", "seed_row", "seed_column", "verdict", "label"])
        found = []
        for number, note in notes.items():
            place = tuple(seeds[number] if number in seeds else self.session.seeds[number - 1].tolist())
            if (note.verdict or note.label) and place in at:
                found.append((at[place], *place, note.verdict, note.label))
        writer.writerows(sorted(found))
        write_atomically(self.folder / NOTES, text.getvalue())

    def close(self) -> None:
        """Let go of the log."""
        self.log.close()


def _leave_out(job: Mapping[str, NDArray[Any]], solved: SolvedPiece, seeds: NDArray[np.int64]) -> Rows:
    """Give the content of a job without the cells that were found in a piece."""
    gone = {tuple(seed) for seed in seeds[solved.piece.found - 1].tolist()}
    kept = np.array([tuple(seed) not in gone for seed in job["seeds"].tolist()], np.bool_)
    beside = ~solved.piece.holds(job["others_places"])
    content = {name: job[name][beside if name.startswith("others_") else kept] for name in job if name != "solved"}
    return {**content, "solved": job["solved"]}


def _put_into(job: Mapping[str, NDArray[Any]], solved: SolvedPiece, seeds: NDArray[np.int64]) -> Rows:
    """Give the content of a job with the cells of a piece in the place of those that were found in it."""
    own = {**solved.rows, **{f"others_{name}": values for name, values in solved.others.items()}}
    members = np.array(solved.piece.members, np.int64)
    if not job:
        return {**own, "solved": members}
    left = _leave_out(job, solved, seeds)
    content = {name: np.concatenate([left[name], values]) for name, values in own.items()}
    return {**content, "solved": np.union1d(left["solved"], members)}


@dataclass(frozen=True, eq=False)
class EditedStore(Store):
    """The work of a run in which some jobs have another outcome; the ledger itself stays as it is."""

    edited: Mapping[str, dict[str, NDArray[Any]]] = field(default_factory=dict)

    def load(self, kind: str, name: str | int, keys: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
        """Read a piece of work, or those of its arrays that are asked for."""
        changed = self.edited.get(str(name)) if kind == "cells" else None
        if changed is None:
            return super().load(kind, name, keys)
        return {key: changed[key] for key in (changed if keys is None else keys)}


def summary_of(out: Path) -> dict[str, Any]:
    """What the list of images says of a slide."""
    summary = json.loads((out / SUMMARY_FILE).read_text(encoding="utf-8"))
    confidence = open_slide_result(out).read_columns(("confidence",))["confidence"]
    known = confidence[np.isfinite(confidence)]
    facts = {"cells": summary["cells"], "mean_confidence": float(known.mean()) if known.size else None}
    return {"image": facts, "review": summary.get("review", {})}
