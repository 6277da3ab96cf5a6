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

from declump.io.slide_results import NOT_NUMBERS, NUCLEUS_RAYS, RADIUS_UNIT
from declump.measurements.columns import CELL_COLUMNS, arrange_columns
from declump.measurements.tables import cut_out, find_extent, measure_cells, put_rows
from declump.pipelines.by_clump import view_piece
from declump.pipelines.decide import DOUBTFUL
from declump.pipelines.others import describe_others
from declump.pipelines.solve import solve_clump
from declump.pipelines.view import ClumpView
from declump.records.boxes import Box
from declump.records.others import KINDS, Others
from declump.records.segmentation import Segmentation
from declump.records.spots import Spots
from declump.regions.channels import ImageChannels
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


def make_plan(store: Store) -> JobPlan:
    """Plan the jobs of a slide: the same for the same record, whatever the tiles."""
    run = open_run(str(store.out))
    pieces, found = run.load_pieces(), run.load_stitched("clumps")
    total = max([pieces.count + 1, *(cut.first + len(cut) for cut in pieces.cuts.values())])
    of_nuclei, hopeful = [np.empty(0, np.int64)], np.zeros(total, np.bool_)
    least = DOUBTFUL * store.record.options.cells.min_nucleus
    for tile in range(len(store.grid)):
        owned, spots = store.load("owners", tile), store.load("tiles", tile)
        of_nuclei.append(owned["owners"][owned["accepted"]])
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
    reach = open_run(str(store.out)).reach
    starts, names, cost = [0], [], 0.0
    for index in range(len(pieces)):
        box = Box(*extents[index].tolist()).grow(reach, store.record.shape)
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
    solution = solve_clump(look_at_pieces(run, (piece,), extent), run.statistics, run.solver)
    others = describe_others(solution.view.candidates.choose(solution.left))
    solved = describe_solved(run, solution.view.box, solution.to_segmentation(), solution.at_cut, piece)
    return solved, describe_beside(others)


def look_at_pieces(run: Opened, pieces: Sequence[int], extent: Box) -> ClumpView:
    """Show a piece of the slide in its box, or several as one."""
    box = extent.grow(run.reach, run.record.shape)
    numbers, owned = run.store.read_numbers(box), run.store.load_candidates(box)
    return view_piece(pieces, box, run.see(box), numbers, run.load_pieces(), owned)


def describe_solved(
    run: Opened, seen: Box, result: Segmentation, at_cut: NDArray[np.bool_], clump: int
) -> dict[str, NDArray[Any]]:
    """Tell all of the cells that were found in a box of the slide, one row each.

    Parameters
    ----------
    run : Opened
    seen : Box
    result : Segmentation
        In the coordinates of the box.
    at_cut : (n,) bool
        Cells at a cut.
    clump : int
        Number that they have as that of their clump.
    """
    statistics, corner, columns = run.statistics, (seen.top, seen.left), dict[str, NDArray[Any]]()
    assert statistics.cell_area is not None
    for label in [-2, *np.unique(result.clump).tolist()]:  # the first one, without cells, names the columns
        rows = np.flatnonzero(result.clump == label)
        box = find_extent(result, rows, corner, run.record.shape)
        picture = ImageChannels(run.slide.read(box), statistics.exposure, box)
        own = measure_cells(cut_out(result, rows, box, corner), box, picture, run.solver.prior, statistics.cell_area)
        put_rows(columns, rows, own, len(result))
    columns |= {"id": np.arange(1, len(result) + 1), "clump": np.full(len(result), clump, np.int64)}
    table = arrange_columns(columns, CELL_COLUMNS, statistics.pixel_size)
    names = [name for name in table if name not in NOT_NUMBERS]
    return {
        "clump": table["clump"],
        "seeds": (result.seeds + corner).astype(np.int32),
        "radii": quantise(result.radii),
        "nucleus_radii": quantise(_outline_nuclei(result)),
        "at_cut": at_cut,
        "warnings": np.asarray(table["warnings"], np.str_),
        "table": np.column_stack([np.asarray(table[name], np.float64) for name in names]),
    }


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


def describe_beside(others: Others) -> dict[str, NDArray[Any]]:
    """Tell of what is no cell, as the files of a slide have it."""
    return {
        "places": others.places,
        "areas": others.areas,
        "probability": others.probability,
        "kinds": np.array([KINDS.index(kind) for kind in others.kinds], np.uint8),
    }


def describe_left(store: Store, tiles: list[int], solved: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Tell of candidates that lie in no clump that was solved: leukocytes and debris by themselves."""
    known = np.zeros(int(solved.max(initial=0)) + 1, np.bool_)
    known[solved] = True
    left = []
    for tile in tiles:
        candidates, owners = Spots.from_arrays(store.load("tiles", tile)), store.load("owners", tile)["owners"]
        alone = (owners >= len(known)) | ~known[np.minimum(owners, len(known) - 1)]
        left.append(candidates.choose(alone))
    return describe_beside(describe_others(Spots.join(left, sort=False)))
