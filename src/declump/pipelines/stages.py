"""The stages from the regions of an image to its cells, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.evidence.binucleate import join_nuclei_of_one_cell
from declump.evidence.candidates import confirm_candidates
from declump.evidence.collect import collect_evidence
from declump.evidence.proposals import RayProposer
from declump.evidence.redundant import drop_redundant
from declump.evolution.evolve import evolve, find_prior, find_settings, scale_of
from declump.evolution.settings import Settings
from declump.pipelines.frozen import FrozenEvolution, segment_frozen
from declump.pipelines.missing_seeds import find_missing_nuclei, find_missing_seeds
from declump.pipelines.nuclei import find_second_nuclei
from declump.pipelines.others import collect_others
from declump.records.evidence import Evidence
from declump.records.regions import FrozenRecord, Regions
from declump.records.segmentation import Segmentation
from declump.records.statistics import ImageStatistics
from declump.regions.channels import ImageChannels
from declump.regions.options import RegionOptions
from declump.shapes.prior import ShapePrior

DEFAULT_EVIDENCE = "rays"


@dataclass(frozen=True, eq=False)
class CellOptions:
    """How cells are found in regions.

    Attributes
    ----------
    evidence : Evidence or str
        See :func:`declump.segment`.
    rays : str or Path
        See :func:`declump.segment`.
    prior : ShapePrior
    settings : Settings
    """

    evidence: Evidence | str
    rays: str | Path
    prior: ShapePrior
    settings: Settings

    @classmethod
    def from_names(
        cls,
        evidence: Evidence | str | None = None,
        rays: str | Path = "default",
        prior: ShapePrior | str | Path = "default",
        setting: str | Settings = "joint",
    ) -> CellOptions:
        """Give what arguments of :func:`declump.segment` stand for."""
        settings = find_settings(setting)
        if evidence is None:
            evidence = DEFAULT_EVIDENCE if settings.ray_weight > 0 else "clump"
        return cls(evidence, rays, find_prior(prior, settings), settings)


@dataclass(frozen=True, eq=False)
class Stages:
    """The stages of :func:`declump.segment`, in order.

    Attributes
    ----------
    picture : ImageChannels
    regions : Regions
        Of the picture.
    options : RegionOptions
        How they were found.
    method : CellOptions
        How cells are found in them.
    statistics : ImageStatistics, optional
        Of the image that the picture is a part of; by default its own are taken.
    beside : Regions, optional
        See :class:`declump.evidence.proposals.RayProposer`.
    stage : callable, optional
        Called with the name of each stage as it begins.
    """

    picture: ImageChannels
    regions: Regions
    options: RegionOptions
    method: CellOptions
    statistics: ImageStatistics | None = None
    beside: Regions | None = None
    stage: Callable[[str], None] | None = None

    def begin(self, name: str) -> None:
        """Tell that a stage begins."""
        if self.stage:
            self.stage(name)

    @cached_property
    def proposer(self) -> RayProposer:
        """The ray network before the picture."""
        return RayProposer(self.picture, self.method.rays, self.options.diameter, self.beside)

    def run(self, progress: Callable[[int, int], None] | None) -> Segmentation:
        """Find the cells."""
        if self.regions.frozen is not None:
            return segment_frozen(self.frozen_evolution(), self.regions, progress=progress)
        found, seeds, known, result = self._find_first(progress)
        if len(seeds) > len(result) and known is not None:
            self.begin("missing cells")
            result = self._evolve(found, seeds, self._add_missing(found, seeds, known), earlier=result)
        return replace(
            result,
            nuclei=found.nuclei,
            second_nuclei=find_second_nuclei(
                found.nuclei, None if self.statistics is None else self.statistics.nucleus_area
            ),
            nucleus_probability=found.nucleus_probability,
            others=collect_others(found, self.picture.channels[0]),
        )

    def _find_first(
        self, progress: Callable[[int, int], None] | None
    ) -> tuple[Regions, NDArray[np.float64], Evidence | None, Segmentation]:
        """Regions with all nuclei, the seeds of all cells, evidence and result of those that were seen at first."""
        found = self.regions
        if isinstance(self.method.evidence, str):
            if "rays" in self.method.evidence:
                self.begin("proposals")
                found = confirm_candidates(found, self.proposer, min_nucleus=self.options.min_nucleus)
                found = join_nuclei_of_one_cell(found, self.proposer)
                found = drop_redundant(found, self.proposer)
            known = collect_evidence(found, self.method.evidence, self.proposer)
        else:
            known = self.method.evidence
        self.begin("evolution")
        result = self._evolve(found, found.seeds, known, progress=progress)
        seeds = found.seeds
        if known is not None and known.radii is not None:
            if found.candidate_probability is None:
                seeds = np.vstack([seeds, find_missing_seeds(result, found.clump)])
            else:
                usual = None if self.statistics is None else self.statistics.cell_area
                found = find_missing_nuclei(result, found, min_nucleus=self.options.min_nucleus, cell_area=usual)
                seeds = found.seeds
        return found, seeds, known, result

    def _add_missing(self, found: Regions, seeds: NDArray[np.float64], known: Evidence) -> Evidence:
        """Evidence of all seeds, after some were found to be missing: of a seed without a nucleus nothing is known."""
        if isinstance(self.method.evidence, str) and len(seeds) == len(found.seeds):
            return collect_evidence(found, self.method.evidence, self.proposer) or known
        assert known.radii is not None
        return known.add_unknown(len(seeds) - len(known.radii))

    def _evolve(
        self,
        found: Regions,
        seeds: NDArray[np.float64],
        known: Evidence | None,
        *,
        earlier: Segmentation | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Segmentation:
        scale = None if self.statistics is None else self.statistics.scale
        return evolve(found.clump, seeds, evidence=known, prior=self.method.prior, setting=self.method.settings,
                      scale=scale, earlier=earlier, progress=progress)  # fmt: skip

    def find_frozen(self) -> Regions:
        """Find all cells, and freeze them."""
        if not isinstance(self.method.evidence, str):
            raise ValueError("regions are frozen with evidence by name, not with one's own; give its name")
        if self.regions.frozen is not None:
            return self.regions
        found, seeds, _, first = self._find_first(None)
        diameter = self.proposer.find_diameter(found) if "rays" in self.method.evidence else found.diameter
        found = replace(found, diameter=diameter)
        areas = np.bincount(found.nuclei.ravel(), minlength=1)[1:]
        frozen = FrozenRecord(
            found,
            self.proposer.propose(found) if "rays" in self.method.evidence else None,
            scale_of(first, self.method.prior),
            float(areas.sum() / max(areas.size, 1)),
            seeds[len(found.seeds) :],
            kinds=("",) * (0 if found.candidates is None else int(found.candidates.max(initial=0))),
        )
        return replace(found, frozen=frozen)

    def frozen_evolution(self) -> FrozenEvolution:
        """Give what evolves frozen regions."""
        if not isinstance(self.method.evidence, str):
            raise ValueError("frozen regions have their evidence; give none beside it, or the name of its kind")
        return FrozenEvolution(
            self.proposer,
            self.method.prior,
            self.method.settings,
            "rays" in self.method.evidence,
        )
