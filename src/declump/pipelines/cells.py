"""``segment()``: from an image to its whole cells, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.evidence.binucleate import join_nuclei_of_one_cell
from declump.evidence.candidates import confirm_candidates
from declump.evidence.collect import collect_evidence
from declump.evidence.proposals import RayProposer
from declump.evolution.evolve import evolve, find_prior, find_settings, scale_of
from declump.evolution.settings import Settings
from declump.images.accepting import ImageLike, to_pixels
from declump.pipelines.frozen import FrozenEvolution, segment_frozen
from declump.pipelines.missing_seeds import find_missing_nuclei, find_missing_seeds
from declump.pipelines.nuclei import find_second_nuclei
from declump.pipelines.others import collect_others
from declump.records.evidence import Evidence
from declump.records.regions import FrozenRecord, Regions
from declump.records.segmentation import Segmentation
from declump.regions.channels import ImageChannels
from declump.regions.find import get_regions
from declump.regions.options import RegionOptions, to_region_options
from declump.shapes.prior import ShapePrior

DEFAULT_EVIDENCE = "rays"


def segment(
    image: ImageLike,
    *,
    regions: Regions | RegionOptions | str | Path = "default",
    evidence: Evidence | str | None = None,
    rays: str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
    pixel_size: float | None = None,
    diameter: float | None = None,
    judge: str | Path | None = None,
    min_nucleus: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    stage: Callable[[str], None] | None = None,
) -> Segmentation:
    """Find every cell of an image, whole.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4), or the path of a file
        Bright-field image: uint8, uint16, bool or float; arrays of dask, zarr and xarray count, too.
    regions : Regions, RegionOptions, str or Path
        Where there is any cell and where the nuclei are; or how to find that: options, or the ``model`` of
        :func:`declump.find_regions`. Of frozen regions (:func:`freeze`) exactly their cells are evolved.
    evidence : Evidence or str, optional
        What tells of hidden outlines beside the clump: ``"clump"`` (nothing: the paper's method), ``"rays"`` (a network
        proposes each cell's outline), ``"layers"`` (the number of cells at a pixel), ``"rays+layers"``, or one's own.
        By default ``"rays"``; with a setting that gives rays no weight, such as ``"paper"``, ``"clump"``. Where
        outlines are proposed, a large part of a clump that no cell explains gets a cell of its own: from the most
        probable spot in it, or without a judge from its middle, without a nucleus.
    rays : str or Path
        Network of the ray proposals: ``"default"``, or an ONNX file of ``declump train rays``.
    prior, setting, progress
        See :func:`evolve`.
    pixel_size : float, optional
        Micrometres a pixel: a first guess of how large nuclei are, which the image may contradict (with a warning).
        Options of the regions have their own, and their own diameter.
    diameter : float, optional
        Usual diameter of a nucleus in pixels; by default it is found in the image.
    judge : str or Path, optional
        What tells nuclei from leukocytes and debris; see :func:`declump.find_regions`.
    min_nucleus : float, optional
        Least probability with which a spot is a nucleus; see :func:`declump.find_regions`.
    stage : callable, optional
        Called with the name of each stage as it begins: ``"regions"``, ``"proposals"``, ``"evolution"``, and
        ``"missing cells"`` where large parts were left unexplained.

    Returns
    -------
    Segmentation
        With ``nuclei``, and ``second_nuclei`` where nuclei overlap. Cells without a found nucleus come last. Where a
        judge looked, with ``nucleus_probability``, and with what is no nucleus in ``others``.
    """
    stages = _Stages(image, regions, evidence, rays, prior, setting, pixel_size, diameter, judge, min_nucleus, stage)
    return stages.run(progress)


def freeze(
    image: ImageLike,
    *,
    regions: Regions | RegionOptions | str | Path = "default",
    evidence: str | None = None,
    rays: str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
    pixel_size: float | None = None,
    diameter: float | None = None,
    judge: str | Path | None = None,
    min_nucleus: float | None = None,
) -> Regions:
    """Find the regions of an image as :func:`segment` does, for a person to correct them.

    ``segment(image, regions=frozen)`` then evolves exactly the cells they hold: none is added, and their size does not
    follow from their number, so that a correction changes the clump it is made in and no other.

    Parameters
    ----------
    image, regions, evidence, rays, prior, setting, pixel_size, diameter, judge, min_nucleus
        See :func:`segment`, which is to be called with the same.

    Returns
    -------
    Regions
        With ``frozen``. Cells that only the evolution showed to be missing are among them, seen by the network, too.
    """
    stages = _Stages(image, regions, evidence, rays, prior, setting, pixel_size, diameter, judge, min_nucleus)
    return stages.find_frozen()


class _Stages:
    """The stages of :func:`segment`, in order; its arguments are those of that function."""

    def __init__(
        self,
        image: ImageLike,
        regions: Regions | RegionOptions | str | Path,
        evidence: Evidence | str | None,
        rays: str | Path,
        prior: ShapePrior | str | Path,
        setting: str | Settings,
        pixel_size: float | None,
        diameter: float | None,
        judge: str | Path | None,
        min_nucleus: float | None,
        stage: Callable[[str], None] | None = None,
    ) -> None:
        self.begin = stage or (lambda _name: None)
        self.begin("regions")
        self.options = to_region_options(
            regions, diameter=diameter, pixel_size=pixel_size, judge=judge, min_nucleus=min_nucleus
        )
        self.picture = ImageChannels(to_pixels(image))
        self.regions = get_regions(self.picture, regions if isinstance(regions, Regions) else self.options)
        self.settings = find_settings(setting)
        self.prior = find_prior(prior, self.settings)
        if evidence is None:
            evidence = DEFAULT_EVIDENCE if self.settings.ray_weight > 0 else "clump"
        self.evidence = evidence
        self.proposer = RayProposer(self.picture, rays, self.options.diameter)

    def run(self, progress: Callable[[int, int], None] | None) -> Segmentation:
        """Find the cells."""
        if self.regions.frozen is not None:
            return segment_frozen(self.frozen_evolution(), self.regions, progress=progress)
        found, seeds, known, result = self._find_first(progress)
        if len(seeds) > len(result) and known is not None:
            self.begin("missing cells")
            known = known.add_unknown(len(seeds) - len(result))
            result = evolve(found.clump, seeds, evidence=known, prior=self.prior, setting=self.settings, earlier=result)
        return replace(
            result,
            nuclei=found.nuclei,
            second_nuclei=find_second_nuclei(found.nuclei),
            nucleus_probability=found.nucleus_probability,
            others=collect_others(found, self.picture.channels[0]),
        )

    def _find_first(
        self, progress: Callable[[int, int], None] | None
    ) -> tuple[Regions, NDArray[np.float64], Evidence | None, Segmentation]:
        """Regions with all nuclei, the seeds of all cells, evidence and result of those that were seen at first."""
        found = self.regions
        if isinstance(self.evidence, str):
            if "rays" in self.evidence:
                self.begin("proposals")
                found = confirm_candidates(found, self.proposer, min_nucleus=self.options.min_nucleus)
                found = join_nuclei_of_one_cell(found, self.proposer)
            known = collect_evidence(found, self.evidence, self.proposer)
        else:
            known = self.evidence
        self.begin("evolution")
        result = evolve(
            found.clump, found.seeds, evidence=known, prior=self.prior, setting=self.settings, progress=progress
        )
        seeds = found.seeds
        if known is not None and known.radii is not None:
            if found.candidate_probability is None:
                seeds = np.vstack([seeds, find_missing_seeds(result, found.clump)])
            else:
                found = find_missing_nuclei(result, found, min_nucleus=self.options.min_nucleus)
                seeds = found.seeds
        return found, seeds, known, result

    def find_frozen(self) -> Regions:
        """Find all cells, and freeze them."""
        if not isinstance(self.evidence, str):
            raise ValueError("regions are frozen with evidence by name, not with one's own; give its name")
        if self.regions.frozen is not None:
            return self.regions
        found, seeds, _, first = self._find_first(None)
        diameter = self.proposer.find_diameter(found) if "rays" in self.evidence else found.diameter
        found = replace(found, diameter=diameter)
        areas = np.bincount(found.nuclei.ravel(), minlength=1)[1:]
        frozen = FrozenRecord(
            found,
            self.proposer.propose(found) if "rays" in self.evidence else None,
            scale_of(first, self.prior),
            float(areas.sum() / max(areas.size, 1)),
            seeds[len(found.seeds) :],
            kinds=("",) * (0 if found.candidates is None else int(found.candidates.max(initial=0))),
        )
        return replace(found, frozen=frozen)

    def frozen_evolution(self) -> FrozenEvolution:
        """Give what evolves frozen regions."""
        if not isinstance(self.evidence, str):
            raise ValueError("frozen regions have their evidence; give none beside it, or the name of its kind")
        return FrozenEvolution(
            self.proposer, self.prior, self.settings, "rays" in self.evidence, "layers" in self.evidence
        )
