"""Cells of frozen regions: every clump evolved from what is known of it alone, whatever else was corrected."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.evidence.proposals import RayProposer
from declump.evolution.evolve import MAX_RADIUS, ROOM, Solver, evolve_one
from declump.evolution.objective import ClumpObjective
from declump.evolution.settings import Settings
from declump.evolution.trust_region import evolve_clump
from declump.pipelines.nuclei import find_second_nuclei
from declump.pipelines.others import collect_others
from declump.records.clump import Clump, seed_pixels, split_clumps
from declump.records.evidence import Evidence
from declump.records.regions import FrozenRecord, Regions
from declump.records.segmentation import ClumpRecord, Segmentation
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]
OnStep = Callable[[NDArray[np.int64], Floats], None]
"""Called with numbers (n,) and radii (n, K) of the cells of a clump, at the start and after every step."""

DRAWN_STD = 0.02
"""How exactly a hand draws, in radii."""
MIN_DRAWN_STD = 0.5
"""The same in pixels, at least."""


class ClumpOutcome(NamedTuple):
    """What became of one clump: radii (n, K) of its cells, and its record."""

    radii: Floats
    record: ClumpRecord


@dataclass(frozen=True, eq=False)
class FrozenEvolution:
    """Evolves frozen regions of one image, and remembers what became of each clump.

    What is remembered is told by all that a clump's outcome follows from, so that a remembered outcome is the one that
    a new evolution would give, to the byte.

    Attributes
    ----------
    proposer : RayProposer
        Asked for the cells of clumps that were corrected.
    prior : ShapePrior
    settings : Settings
    rays : bool
        Whether proposals are used.
    """

    proposer: RayProposer
    prior: ShapePrior
    settings: Settings
    rays: bool = True
    _outcomes: dict[bytes, ClumpOutcome] = field(default_factory=dict, init=False, repr=False)
    _found: dict[int, _Found] = field(default_factory=dict, init=False, repr=False)
    _said: dict[tuple[float, ...], tuple[Floats, Floats]] = field(default_factory=dict, init=False, repr=False)

    def evolve(
        self,
        regions: Regions,
        *,
        on_step: OnStep | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Segmentation:
        """Evolve every clump whose outcome is not remembered.

        Parameters
        ----------
        regions : Regions
            Frozen ones of the image.
        on_step : callable, optional
            See ``OnStep``; what it raises ends the evolution.
        progress : callable, optional
            Called with the number of cells done and in all, after every clump.

        Returns
        -------
        Segmentation
            One row a seed of ``regions.cell_seeds``; without nuclei.
        """
        frozen = _frozen_of(regions)
        pixels = seed_pixels(regions.cell_seeds, regions.clump.shape)
        radii, owner = np.zeros((len(pixels), self.prior.rays)), np.full(len(pixels), -1, dtype=np.int64)
        records, done = [], 0
        for clump in split_clumps(regions.clump, pixels):
            outcome = self._evolve_clump(clump, regions, frozen, on_step)
            radii[clump.cells], owner[clump.cells] = outcome.radii, clump.label
            records.append(outcome.record)
            done += clump.cells.size
            if progress:
                progress(done, len(pixels))
        shape = (regions.clump.shape[0], regions.clump.shape[1])
        return Segmentation(shape, pixels.astype(np.float64), radii, owner, tuple(records))

    def remember(self, regions: Regions, result: Segmentation) -> None:
        """Take what was found in frozen regions before as remembered, so that it is not evolved again."""
        frozen = _frozen_of(regions)
        for clump in split_clumps(regions.clump, regions.cell_seeds):
            evidence = self._find_evidence(clump, regions, frozen)
            outcome = ClumpOutcome(result.radii[clump.cells], result.clumps[clump.label])
            self._outcomes[_tell_apart(clump, evidence, frozen.scale)] = outcome

    def _evolve_clump(
        self, clump: Clump, regions: Regions, frozen: FrozenRecord, on_step: OnStep | None
    ) -> ClumpOutcome:
        evidence = self._find_evidence(clump, regions, frozen, on_step)
        key = _tell_apart(clump, evidence, frozen.scale)
        if key not in self._outcomes:
            solver: Solver = evolve_clump
            # Of large objects only every n-th pixel is evolved: steps would come in other units.
            if on_step is not None and frozen.scale * self.prior.mean.mean() <= MAX_RADIUS:
                solver = partial(evolve_clump, on_step=partial(on_step, clump.cells))
            alone = replace(clump, cells=np.arange(clump.cells.size))
            outcome = evolve_one(alone, self.prior, self.settings, frozen.scale, evidence, solver)
            self._outcomes[key] = ClumpOutcome(*outcome)
        return self._outcomes[key]

    def _find_evidence(
        self, clump: Clump, regions: Regions, frozen: FrozenRecord, on_step: OnStep | None = None
    ) -> Evidence | None:
        """What is known of the cells of a clump, one row each in their order."""
        known: dict[str, NDArray[np.float64]] = {}
        if self.rays and frozen.evidence is not None and clump.cells.size:
            known["radii"], known["radii_std"] = self._find_rays(clump, regions, frozen, on_step)
        if frozen.drawn is not None and clump.cells.size and np.isfinite(frozen.drawn[clump.cells]).any():
            drawn = frozen.drawn[clump.cells]
            std = np.where(np.isfinite(drawn), np.maximum(DRAWN_STD * drawn, MIN_DRAWN_STD), np.inf)
            known["drawn"], known["drawn_std"] = np.where(np.isfinite(drawn), drawn, 1.0), std
        return Evidence(**known) if known else None

    def _find_rays(
        self, clump: Clump, regions: Regions, frozen: FrozenRecord, on_step: OnStep | None
    ) -> tuple[Floats, Floats]:
        """Proposals (n, A) for the cells of a clump; cells without a nucleus have none."""
        evidence = frozen.evidence
        assert evidence is not None and evidence.radii is not None and evidence.radii_std is not None
        found = self._found.setdefault(id(frozen.found), _Found(frozen.found))
        with_nucleus = clump.cells[clump.cells < len(regions.seeds)]
        radii = np.ones((clump.cells.size, evidence.radii.shape[1]))
        std = np.full_like(radii, np.inf)
        rows = found.find_unchanged(clump, regions, with_nucleus)
        count = len(with_nucleus)  # seeds without a nucleus come last
        seeds = [tuple(seed) for seed in regions.seeds[with_nucleus].tolist()]
        if rows is not None:
            radii[:count], std[:count] = evidence.radii[rows], evidence.radii_std[rows]
        elif count:
            if on_step is not None:
                for row, seed in enumerate(seeds):
                    if seed in self._said:
                        radii[row], std[row] = self._said[seed]
                on_step(clump.cells, self._find_start(clump, frozen, Evidence(radii, std)))
            view, numbers = found.show_clump(clump, regions, with_nucleus)
            said = self.proposer.propose(view, numbers)
            assert said.radii is not None and said.radii_std is not None
            radii[:count], std[:count] = said.radii, said.radii_std
        for row, seed in enumerate(seeds):
            self._said[seed] = radii[row], std[row]
        return radii, std

    def _find_start(self, clump: Clump, frozen: FrozenRecord, evidence: Evidence) -> Floats:
        """Where outlines start from by what was said of the cells before: a first look, while the network runs."""
        room = clump.with_room(int(ROOM * frozen.scale * self.prior.mean.mean()))
        return ClumpObjective(room, self.prior, self.settings, frozen.scale, evidence).start().radii


@dataclass(frozen=True, eq=False)
class _Found:
    """Regions as they were found, with what tells their clumps apart."""

    regions: Regions

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """Number of the clump from 1 at each pixel."""
        return np.asarray(ndimage.label(self.regions.clump, structure=np.ones((3, 3)))[0], dtype=np.int32)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Pixels of each clump, by its number."""
        return np.bincount(self.labels.ravel())

    def find_unchanged(self, clump: Clump, regions: Regions, cells: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Rows of the cells with a nucleus of a clump among those found; None if clump or nuclei have changed."""
        box = _box(clump)
        label = np.unique(self.labels[box][clump.mask])
        if label.size != 1 or label[0] == 0 or self.sizes[label[0]] != clump.size:
            return None
        now, then = regions.nuclei[box][clump.mask], self.regions.nuclei[box][clump.mask]
        pairs = np.unique(np.column_stack([now, then])[(now > 0) | (then > 0)], axis=0)
        if (
            (pairs == 0).any()
            or not np.array_equal(pairs[:, 0], cells + 1)
            or len(np.unique(pairs[:, 1])) != len(pairs)
        ):
            return None
        return np.asarray(pairs[:, 1] - 1, dtype=np.int64)

    def show_clump(self, clump: Clump, regions: Regions, cells: NDArray[np.int64]) -> tuple[Regions, NDArray[np.int64]]:
        """Give the regions as they were found, but for one clump as it is now, and the rows of its cells there."""
        box = _box(clump)
        own = np.zeros(self.labels.shape, np.bool_)
        own[box] = clump.mask
        kept = ~np.isin(self.labels, np.unique(self.labels[box][clump.mask])) | (self.labels == 0)
        # Nuclei that are found count first; a number of a later one may be any that is higher.
        base = int(self.regions.nuclei.max(initial=0))
        nuclei = np.where(kept & ~own, self.regions.nuclei, 0)
        inner = regions.nuclei[box]
        chosen = clump.mask & np.isin(inner, cells + 1)
        nuclei[box][chosen] = inner[chosen] + base
        shown = Regions(self.regions.clump & kept | own, nuclei, diameter=self.regions.diameter)
        return shown, np.arange(len(shown.seeds) - len(cells), len(shown.seeds))


def segment_frozen(
    evolution: FrozenEvolution, regions: Regions, *, progress: Callable[[int, int], None] | None = None
) -> Segmentation:
    """Find every cell of frozen regions, whole; see :func:`declump.segment`."""
    return complete(evolution.evolve(regions, progress=progress), regions, evolution.proposer.image.channels[0])


def complete(result: Segmentation, regions: Regions, luminance: NDArray[np.float32]) -> Segmentation:
    """Add nuclei, their probabilities and what is no nucleus to the outlines of frozen regions."""
    frozen = _frozen_of(regions)
    probability = regions.nucleus_probability
    if probability is not None:
        probability = np.append(probability, np.full(len(frozen.bare_seeds), np.nan))
    return replace(
        result,
        nuclei=regions.nuclei,
        second_nuclei=find_second_nuclei(regions.nuclei, frozen.nucleus_area),
        nucleus_probability=probability,
        others=collect_others(regions, luminance),
    )


def _frozen_of(regions: Regions) -> FrozenRecord:
    if regions.frozen is None:
        raise ValueError("these regions are not frozen: give those of declump.freeze")
    return regions.frozen


def _box(clump: Clump) -> tuple[slice, slice]:
    (top, left), (height, width) = clump.origin, clump.mask.shape
    return np.s_[top : top + height, left : left + width]


def _tell_apart(clump: Clump, evidence: Evidence | None, scale: float) -> bytes:
    """Digest of all that the outcome of a clump follows from, within one :class:`FrozenEvolution`."""
    digest = hashlib.sha256(repr((clump.mask.shape, clump.origin, clump.image_shape, scale)).encode())
    digest.update(np.packbits(clump.mask).tobytes())
    digest.update(np.ascontiguousarray(clump.seeds).tobytes())
    for part in () if evidence is None else (evidence.radii, evidence.radii_std, evidence.drawn, evidence.drawn_std):
        digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
    return digest.digest()
