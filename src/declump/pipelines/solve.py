"""``solve_clump``: the cells of one clump, whatever asked for them: an image, a tile of a slide, an edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.evidence.proposals import Key, RayProposer
from declump.evolution.evolve import MAX_RADIUS, Solver, evolve_one, find_prior, find_settings
from declump.evolution.settings import Settings
from declump.evolution.trust_region import evolve_clump
from declump.pipelines.decide import Cell, ClumpTable, Status, decide, rescue
from declump.pipelines.nuclei import find_second_nuclei
from declump.pipelines.view import SEVERED, ClumpView
from declump.records.clump import seed_pixels, split_checked
from declump.records.crops import crop_contour
from declump.records.evidence import Evidence
from declump.records.others import Others
from declump.records.segmentation import ClumpRecord, Segmentation
from declump.records.statistics import ImageStatistics
from declump.regions.options import MIN_NUCLEUS
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]
OnStep = Callable[[NDArray[np.int64], Floats], None]
"""Called with rows (n,) and radii (n, K) of cells of a clump, at the start and after every step."""

NEAR_CUT = 2
"""Cells whose pixels come so near to what was cut off are told."""
DRAWN_STD = 0.02
"""How exactly a hand draws, in radii."""
MIN_DRAWN_STD = 0.5
"""The same in pixels, at least."""


@dataclass(frozen=True, eq=False)
class CellSolver:
    """How cells are found in a clump.

    Attributes
    ----------
    prior : ShapePrior
    settings : Settings
    rays : str or Path, optional
        Network that proposes outlines (:func:`declump.segment`); None for outlines by the clump alone.
    min_nucleus : float
        Least probability of a nucleus by itself.
    evolve : callable
        What finds the shapes of a clump: by default the trust region over all its cells.
    """

    prior: ShapePrior
    settings: Settings
    rays: str | Path | None = "default"
    min_nucleus: float = MIN_NUCLEUS
    evolve: Solver = evolve_clump

    @classmethod
    def from_names(
        cls,
        evidence: str | None = None,
        rays: str | Path = "default",
        prior: ShapePrior | str | Path = "default",
        setting: str | Settings = "joint",
        min_nucleus: float = MIN_NUCLEUS,
        solver: Solver = evolve_clump,
    ) -> CellSolver:
        """Give what arguments of :func:`declump.segment` stand for."""
        if evidence not in (None, "rays", "clump"):
            raise ValueError(f"evidence must be 'rays', 'clump' or an Evidence, got {evidence!r}")
        settings = find_settings(setting)
        proposed = evidence == "rays" or (evidence is None and settings.ray_weight > 0)
        return cls(find_prior(prior, settings), settings, rays if proposed else None, min_nucleus, solver)


@dataclass(frozen=True, eq=False)
class Decisions:
    """What is decided already of a clump, by a person or by an earlier solution: no rule is asked.

    Attributes
    ----------
    cells : sequence of Cell
        Candidates of the view that are the nuclei of each cell.
    bare : (m, 2) float64
        Seeds of cells without a nucleus, in the image.
    drawn : (n + m, K) float64, optional
        Radii that a person drew; NaN elsewhere.
    """

    cells: Sequence[Cell]
    bare: Floats = field(default_factory=lambda: np.empty((0, 2)))
    drawn: Floats | None = None


@dataclass(frozen=True, eq=False)
class ClumpSolution:
    """The cells of a clump, one row each: in the order of their first nuclei, then those without one.

    Attributes
    ----------
    view : ClumpView
    status : (S,) uint8
        What became of each candidate (:class:`declump.pipelines.decide.Status`).
    cells : sequence of Cell
        Candidates of each cell with a nucleus.
    seeds : (n, 2) int64
        In the image.
    radii : (n, K) float64
        In whole sixteenths of a pixel.
    record : ClumpRecord
    nuclei, second_nuclei : (h, w) int32
        Row of a cell, from 1, at its nuclei, and of a second cell where nuclei overlap, in the box; the latter is None
        where none do.
    at_cut : (n,) bool
        Cells that lie where the clump was cut: they may be wrong there.
    """

    view: ClumpView
    status: NDArray[np.uint8]
    cells: Sequence[Cell]
    seeds: NDArray[np.int64]
    radii: Floats
    record: ClumpRecord
    nuclei: NDArray[np.int32]
    second_nuclei: NDArray[np.int32] | None
    at_cut: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.seeds)

    @property
    def probability(self) -> Floats:
        """Of the surest nucleus of each cell (n,); NaN without one."""
        known = self.view.candidates.probability[[cell[0] for cell in self.cells]]
        return np.append(known, np.full(len(self) - len(known), np.nan))

    def to_segmentation(self, others: Others | None = None, statistics: ImageStatistics | None = None) -> Segmentation:
        """Give the cells as those of the box."""
        return Segmentation(
            self.view.box.shape,
            (self.seeds - self.view.box[:2]).astype(np.float64),
            self.radii,
            np.zeros(len(self), np.int64),
            (self.record,),
            self.nuclei,
            self.second_nuclei,
            self.probability if self.view.is_classified else None,
            others,
            statistics,
        )

    @property
    def left(self) -> NDArray[np.int64]:
        """Candidates of the clump that became no nuclei."""
        taken = np.zeros(len(self.status), np.bool_)
        taken[[member for cell in self.cells for member in cell]] = True
        return np.flatnonzero(self.view.own & ~taken)


def solve_clump(
    view: ClumpView,
    statistics: ImageStatistics,
    solver: CellSolver,
    *,
    decisions: Decisions | None = None,
    evidence: Evidence | None = None,
    answers: dict[Key, NDArray[np.float32]] | None = None,
    on_step: OnStep | None = None,
) -> ClumpSolution:
    """Find the cells of one clump.

    Parameters
    ----------
    view : ClumpView
    statistics : ImageStatistics
        Of the image, complete.
    solver : CellSolver
    decisions : Decisions, optional
        By default candidates are decided by the rules (:mod:`declump.pipelines.decide`).
    evidence : Evidence, optional
        Instead of the ray network's: one row a candidate of the view.
    answers : dict, optional
        What the ray network said, kept by the caller for the same box and clump (:class:`RayProposer`).
    on_step : callable, optional
        See ``OnStep``.
    """
    assert statistics.scale is not None and statistics.cell_area is not None
    kept: dict[Key, Any] = {} if answers is None else answers
    proposer = None
    if solver.rays is not None and evidence is None:
        proposer = RayProposer(view.channels, view.labels > 0, statistics.diameter, solver.rays, kept)
    table = ClumpTable(view, proposer)
    run = partial(_evolve, table, statistics.scale, solver, evidence, on_step=on_step)
    corner = np.array(view.box[:2])
    if decisions is not None:
        table.accept(decisions.cells, Status.BY_PERSON)
        bare = decisions.bare - corner
        seeds, radii, record = run(bare, decisions.drawn)
    else:
        decide(table, solver.min_nucleus)
        bare = np.empty((0, 2))
        seeds, radii, record = run(bare, None)
        if proposer is not None or evidence is not None:
            before = len(table.cells)
            crops = [crop_contour(seed, row, view.box.shape) for seed, row in zip(seeds, radii, strict=True)]
            bare = rescue(table, crops, solver.min_nucleus, statistics.cell_area)
            if len(bare) or len(table.cells) > before:
                seeds, radii, record = run(bare, None)
    nuclei = table.paint()
    return ClumpSolution(
        view,
        table.status,
        tuple(table.cells),
        seeds + corner,
        radii,
        record,
        nuclei,
        find_second_nuclei(nuclei, statistics.nucleus_area),
        find_at_cut(view.labels, seeds, radii),
    )


def _evolve(
    table: ClumpTable,
    scale: float,
    solver: CellSolver,
    given: Evidence | None,
    bare: Floats,
    drawn: Floats | None,
    *,
    on_step: OnStep | None,
) -> tuple[NDArray[np.int64], Floats, ClumpRecord]:
    """Seeds (n, 2) in the box, radii (n, K) and record of the cells of a table and of seeds without a nucleus."""
    pixels = seed_pixels(np.vstack([table.seeds, bare]), table.view.box.shape)
    known = _collect_evidence(table, given, len(bare), drawn)
    radii, sizes, records = np.zeros((len(pixels), solver.prior.rays)), 0, list[ClumpRecord]()
    for clump in split_checked(table.view.mask, pixels):
        evolve = solver.evolve
        # Of large objects only every n-th pixel is evolved: steps would come in other units.
        if on_step is not None and scale * solver.prior.mean.mean() <= MAX_RADIUS:
            evolve = partial(solver.evolve, on_step=partial(on_step, clump.cells))  # type: ignore[call-arg]  # ours
        radii[clump.cells], record = evolve_one(clump, solver.prior, solver.settings, scale, known, evolve)
        sizes += record.size
        records.append(record)
    if len(records) == 1:
        return pixels, radii, records[0]
    return pixels, radii, ClumpRecord(sizes, (sum(record.energy for record in records),), "bound")


def _collect_evidence(table: ClumpTable, given: Evidence | None, bare: int, drawn: Floats | None) -> Evidence | None:
    """What is known of the cells of a table, then of cells without a nucleus: of those nothing is proposed."""
    rows, proposed = [cell[0] for cell in table.cells], None
    if table.proposer is not None and (rows or bare):
        proposed = Evidence(*table.propose(table.cells, range(len(rows)))).add_unknown(bare)
    elif given is not None and given.radii is not None and given.radii_std is not None:
        proposed = Evidence(given.radii[rows], given.radii_std[rows]).add_unknown(bare)
    known: dict[str, Floats] = {}
    if proposed is not None and proposed.radii is not None and proposed.radii_std is not None:
        known |= {"radii": proposed.radii, "radii_std": proposed.radii_std}
    if drawn is not None and np.isfinite(drawn).any():
        known["drawn"] = np.where(np.isfinite(drawn), drawn, 1.0)
        known["drawn_std"] = np.where(np.isfinite(drawn), np.maximum(DRAWN_STD * drawn, MIN_DRAWN_STD), np.inf)
    return Evidence(**known) if known else None


def find_at_cut(labels: NDArray[np.uint8], seeds: NDArray[Any], radii: Floats) -> NDArray[np.bool_]:
    """Tell which cells (n,) lie where a clump was cut, by the labels (h, w) of its view."""
    cut = labels == SEVERED
    if not cut.any():
        return np.zeros(len(seeds), np.bool_)
    near = ndimage.binary_dilation(cut, structure=np.ones((3, 3)), iterations=NEAR_CUT)
    crops = (crop_contour(seed, row, (cut.shape[0], cut.shape[1])) for seed, row in zip(seeds, radii, strict=True))
    return np.array([bool(near[crop.box][crop.mask].any()) for crop in crops], np.bool_)
