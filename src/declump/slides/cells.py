"""From the clumps of a slide to its cells: clumps in batches, each batch one job and one file of the ledger."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.evidence.candidates import DOUBTFUL
from declump.io.slide_results import NOT_NUMBERS, NUCLEUS_RAYS, RADIUS_UNIT
from declump.measurements import measure
from declump.pipelines.by_clump import ClumpView, view_piece
from declump.pipelines.others import tell_kind
from declump.records.boxes import Box
from declump.records.others import KINDS
from declump.records.segmentation import Segmentation
from declump.records.spots import Spots
from declump.shapes import contours
from declump.slides.hilbert import hilbert_index
from declump.slides.opened import Opened, open_run
from declump.slides.store import Store

SECONDS_A_CELL = 0.25
SECONDS_A_MEGAPIXEL = 0.15
"""What a clump is reckoned to take, for batches alone."""
BATCH_SECONDS = 5.0
"""Clumps are put together until a job takes about so long: a task costs its scheduler some milliseconds."""


@dataclass(frozen=True, eq=False)
class JobPlan:
    """Which clumps, or parts of them, are solved in which job.

    Attributes
    ----------
    pieces : (P,) int64
        Numbers of the pieces that may have cells, in the order of the jobs.
    extents : (P, 4) int64
    nuclei : (P,) int64
        Probable nuclei of each.
    starts : (J + 1,) int64
        Where the pieces of each job begin.
    names : tuple of str
        Of the files of the jobs: hashes of the record and the clumps.
    """

    pieces: NDArray[np.int64]
    extents: NDArray[np.int64]
    nuclei: NDArray[np.int64]
    starts: NDArray[np.int64]
    names: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.names)

    def count_nuclei(self, job: int) -> int:
        """Number of probable nuclei of a job."""
        return int(self.nuclei[self.starts[job] : self.starts[job + 1]].sum())


def make_plan(store: Store, tiles: list[int]) -> JobPlan:
    """Plan the jobs of a slide: the same for the same record, whatever the tiles."""
    run = open_run(str(store.out))
    pieces, found = run.load_pieces(), run.load_stitched("clumps")
    total = max([pieces.count + 1, *(cut.first + len(cut) for cut in pieces.cuts.values())])
    of_nuclei, hopeful = [np.empty(0, np.int64)], np.zeros(total, np.bool_)
    least = DOUBTFUL * store.record.options.cells.min_nucleus
    for tile in tiles:
        owned, spots = store.load("owners", tile), store.load("tiles", tile)
        of_nuclei.append(owned["owners"][owned["nuclei"]])
        hopeful[owned["owners"][spots["probability"] >= least]] = True
    hopeful[0] = False
    nuclei = np.bincount(np.concatenate(of_nuclei), minlength=total)
    extents = np.zeros((total, 4), np.int64)
    extents[1 : pieces.count + 1] = found.boxes
    for number, cut in pieces.cuts.items():
        hopeful[number] = False
        extents[cut.first : cut.first + len(cut)] = np.array(cut.extents(), np.int64).reshape(-1, 4)
    chosen = np.flatnonzero(hopeful)
    middle = (extents[chosen, :2] + extents[chosen, 2:]) // 2
    chosen = chosen[np.lexsort((chosen, hilbert_index(middle[:, 0], middle[:, 1])))]
    return _batch(store, chosen, extents[chosen], nuclei[chosen])


def _batch(store: Store, pieces: NDArray[np.int64], extents: NDArray[np.int64], nuclei: NDArray[np.int64]) -> JobPlan:
    segmenter = open_run(str(store.out)).segmenter
    starts, names, cost = [0], [], 0.0
    for index in range(len(pieces)):
        box = segmenter.find_box(Box(*extents[index].tolist()), store.record.shape)
        cost += SECONDS_A_CELL * (int(nuclei[index]) + 1) + SECONDS_A_MEGAPIXEL * box.size / 1e6
        if cost >= BATCH_SECONDS or index == len(pieces) - 1:
            starts.append(index + 1)
            cost = 0.0
    for first, last in pairwise(starts):
        told = json.dumps([store.record.digest, extents[first:last].tolist(), pieces[first:last].tolist()])
        names.append(hashlib.sha256(told.encode()).hexdigest()[:32])
    return JobPlan(pieces, extents, nuclei, np.array(starts, np.int64), tuple(names))


def solve(out: str, name: str, pieces: list[int], extents: list[list[int]]) -> int:
    """Find the cells of the clumps of a job, and put them into place; give their number."""
    run = open_run(out)
    if run.store.has("cells", name):
        return len(run.store.load("cells", name)["seeds"])
    rows, others = [], []
    for piece, extent in zip(pieces, extents, strict=True):
        solved, beside = _solve_piece(run, piece, Box(*extent))
        rows.append(solved)
        others.append(beside)
    joined: dict[str, NDArray[Any]] = {
        column: np.concatenate([solved[column] for solved in rows]) for column in rows[0]
    }
    joined |= {f"others_{column}": np.concatenate([part[column] for part in others]) for column in others[0]}
    joined["solved"] = np.array(pieces, np.int64)
    run.store.save("cells", name, joined)
    return len(joined["seeds"])


def _solve_piece(run: Opened, piece: int, extent: Box) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Cells of one piece with all that is told of them, and what is no cell in it."""
    view = look_at_pieces(run, (piece,), extent)
    pixels = run.slide.read(view.box)
    return describe_solved(run, view, pixels, run.segmenter.segment(pixels, view), run.load_pieces().find_clump(piece))


def look_at_pieces(run: Opened, pieces: Sequence[int], extent: Box) -> ClumpView:
    """Show a piece of the slide in its box, or several as one."""
    box = run.segmenter.find_box(extent, run.record.shape)
    return view_piece(pieces, box, run.store.read_numbers(box), run.load_pieces(), *run.store.load_spots(box))


def describe_solved(
    run: Opened, view: ClumpView, pixels: NDArray[Any], result: Segmentation, clump: int
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Tell all of the cells of a clump that were found in its box, one row each, and of what is no cell in it."""
    box, statistics = view.box, run.record.statistics
    corner = np.array([box.top, box.left])
    table = measure(
        result, pixels, prior=run.segmenter.method.prior, pixel_size=statistics.pixel_size, statistics=statistics
    ).cells
    columns: dict[str, NDArray[Any]] = {
        "clump": np.full(len(result), clump, np.int64),
        "seeds": (result.seeds + corner).astype(np.int32),
        "radii": quantise(result.radii),
        "nucleus_radii": quantise(_outline_nuclei(result)),
        "at_cut": view.find_severed(result),
    }
    columns["warnings"] = np.asarray(table["warnings"], np.str_)
    names = [name for name in table if name not in NOT_NUMBERS]
    shifts = [_shift(name, box) for name in names]
    columns["table"] = np.column_stack([np.asarray(table[name], np.float64) for name in names]) + np.array(shifts)
    return columns, _describe_others(result, corner)


def _shift(name: str, box: Box) -> int:
    """By how much a column is more in the slide than in a box of it."""
    return box.top if name.endswith("_row_px") else box.left if name.endswith("_column_px") else 0


def quantise(radii: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Radii as whole numbers of sixteenths of a pixel."""
    return np.clip(np.floor(radii / RADIUS_UNIT + 0.5), 0, np.iinfo(np.uint16).max).astype(np.uint16)


def _outline_nuclei(result: Segmentation) -> NDArray[np.float64]:
    """Outlines (N, NUCLEUS_RAYS) of the nuclei from the seeds of their cells; 0 where there is none."""
    radii = np.zeros((len(result), NUCLEUS_RAYS))
    for index, crop in enumerate(result.nucleus_crops):
        if crop.mask.any():
            corner = np.array([side.start for side in crop.box]) - 1
            seed = np.clip(result.seeds[index] - corner, 0, np.array(crop.mask.shape) + 1)
            radii[index] = contours.outermost_crossings(np.pad(crop.mask, 1), seed, NUCLEUS_RAYS)[0]
    return radii


def _describe_others(result: Segmentation, corner: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    others = result.others
    assert others is not None
    return {
        "places": others.places + corner,
        "areas": others.areas,
        "probability": others.probability,
        "kinds": np.array([KINDS.index(kind) for kind in others.kinds], np.uint8),
    }


def describe_left(store: Store, tiles: list[int], solved: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Spots that lie in no clump that was solved: leukocytes and debris by themselves."""
    known = np.zeros(int(solved.max(initial=0)) + 1, np.bool_)
    known[solved] = True
    places, areas, probability, kinds = [], [], [], []
    for tile in tiles:
        spots, owners = Spots.from_arrays(store.load("tiles", tile)), store.load("owners", tile)["owners"]
        alone = (owners >= len(known)) | ~known[np.minimum(owners, len(known) - 1)]
        left = spots.choose(alone)
        places += [
            np.argwhere(mask).mean(axis=0) + box for mask, box in zip(left.masks, left.boxes[:, :2], strict=True)
        ]
        areas += [float(np.count_nonzero(mask)) for mask in left.masks]
        probability += left.probability.tolist()
        kinds += [KINDS.index(tell_kind(light)) for light in left.light.tolist()]
    return {
        "places": np.array(places, np.float64).reshape(-1, 2),
        "areas": np.array(areas, np.float64),
        "probability": np.array(probability, np.float64),
        "kinds": np.array(kinds, np.uint8),
    }
