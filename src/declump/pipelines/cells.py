"""``segment()``: from an image to its whole cells, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from declump.evidence.candidates import confirm_candidates
from declump.evidence.collect import collect_evidence
from declump.evidence.proposals import RayProposer
from declump.evolution.evolve import evolve, find_settings
from declump.evolution.settings import Settings
from declump.pipelines.missing_seeds import find_missing_nuclei, find_missing_seeds
from declump.pipelines.nuclei import find_second_nuclei
from declump.pipelines.others import collect_others
from declump.records.evidence import Evidence
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.regions.channels import ImageChannels
from declump.regions.find import get_regions
from declump.regions.options import RegionOptions, to_region_options
from declump.shapes.prior import ShapePrior

DEFAULT_EVIDENCE = "rays"


def segment(
    image: ArrayLike,
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
) -> Segmentation:
    """Find every cell of an image, whole.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        Bright-field image: uint8, uint16, bool or float.
    regions : Regions, RegionOptions, str or Path
        Where there is any cell and where the nuclei are; or how to find that: options, or the ``model`` of
        :func:`declump.find_regions`.
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

    Returns
    -------
    Segmentation
        With ``nuclei``, and ``second_nuclei`` where nuclei overlap. Cells without a found nucleus come last. Where a
        judge looked, with ``nucleus_probability``, and with what is no nucleus in ``others``.
    """
    options = to_region_options(regions, diameter=diameter, pixel_size=pixel_size, judge=judge, min_nucleus=min_nucleus)
    picture = ImageChannels(np.asanyarray(image))
    found = get_regions(picture, regions if isinstance(regions, Regions) else options)
    prior = prior if isinstance(prior, ShapePrior) else ShapePrior.load(prior)
    if evidence is None:
        evidence = DEFAULT_EVIDENCE if find_settings(setting).ray_weight > 0 else "clump"
    if isinstance(evidence, str):
        proposer = RayProposer(picture, rays, options.diameter)
        if "rays" in evidence:
            found = confirm_candidates(found, proposer, min_nucleus=options.min_nucleus)
        known = collect_evidence(found, evidence, proposer)
    else:
        known = evidence
    result = evolve(found.clump, found.seeds, evidence=known, prior=prior, setting=setting, progress=progress)
    if known is not None and known.radii is not None:
        seeds = found.seeds
        if found.candidate_probability is None:
            seeds = np.vstack([seeds, find_missing_seeds(result, found.clump)])
        else:
            found = find_missing_nuclei(result, found, min_nucleus=options.min_nucleus)
            seeds = found.seeds
        if len(seeds) > len(result):
            known = known.add_unknown(len(seeds) - len(result))
            result = evolve(found.clump, seeds, evidence=known, prior=prior, setting=setting, earlier=result)
    return replace(
        result,
        nuclei=found.nuclei,
        second_nuclei=find_second_nuclei(found.nuclei),
        nucleus_probability=found.nucleus_probability,
        others=collect_others(found, picture.channels[0]),
    )
