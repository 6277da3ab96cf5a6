"""From a clump mask and seeds to a segmentation: the stages in order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from declump import contours
from declump.clumps import Clump, SeedOutsideWarning, checked_mask, evidence_of, seed_pixels, split_clumps
from declump.correction import missing_seeds
from declump.energy import hard_discrepancy
from declump.evidence.candidates import confirmed
from declump.evidence.gathering import gathered
from declump.evidence.record import Evidence
from declump.evolution import Evolution, evolve_clump
from declump.following import followed
from declump.prior import ShapePrior
from declump.regions import Regions
from declump.regions.find import NUCLEUS_MICROMETRES, regions_for
from declump.segmentation import ClumpRecord, Segmentation
from declump.settings import SETTINGS, Settings

DEFAULT_EVIDENCE = "rays"
CROWDING = 0.94
"""Usual ratio of the radius of a disc with a clump's area per seed to that of a disc with a whole cell's area."""
LARGEST_IN_IMAGE = 4.0
"""Mean radii up to this many times the side of a square of the image's area are accepted as a scale."""
ROOM = 2.0
"""How far round a clump outlines are followed, in mean radii of the objects."""
LARGEST_RADIUS = 256.0
"""Objects with a larger mean radius, in pixels, are evolved on a coarser grid: nothing is gained by a finer one."""


def evolve(
    mask: ArrayLike,
    seeds: ArrayLike,
    *,
    evidence: Evidence | None = None,
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
    scale: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Find the whole outline of every object of overlapping clumps.

    Parameters
    ----------
    mask : (H, W) bool
        Where there is any object; may hold many clumps. Also 0 and 1, or 0 and 255.
    seeds : (N, 2) float
        Row and column of one point in each object, in a cell the centroid of its nucleus. A seed is taken at the centre
        of its pixel.
    evidence : Evidence, optional
        What is known of the objects beside the mask: proposals of their outlines, one row a seed, and of the number of
        layers, each with its doubt. Heeded by ``"joint"`` alone.
    prior : ShapePrior, str or Path
        What shapes to expect: ``"default"`` (cervical cells), the path of a file, or a prior.
    setting : "joint", "paper" or Settings
        ``"joint"``: shape, scale and rotation evolve together, inside three standard deviations and at a price for
        unusual shapes. ``"paper"``: the published method read literally.
    scale : float, optional
        Size of the objects relative to the prior's examples. By default it follows from the area per seed.
    progress : callable, optional
        Called with the number of cells done and in all, after every clump.

    Returns
    -------
    Segmentation
        One row a seed, in the order given. A seed outside the mask gets an empty outline, clump -1, and a warning; a
        clump without a seed gets no cell, and its whole size as energy. Cells may reach beyond the image border, where
        nothing is counted.

    Raises
    ------
    ValueError
        For arrays of the wrong shape, seeds outside the image, two seeds on one pixel, an unknown setting,
        evidence of other seeds or another image.

    Examples
    --------
    >>> import numpy as np, declump
    >>> rows, columns = np.mgrid[:120, :170]
    >>> two = (np.hypot(rows - 60, columns - 60) < 40) | (np.hypot(rows - 60, columns - 105) < 40)
    >>> result = declump.evolve(two, [(60, 60), (60, 105)])
    >>> len(result), result.masks.shape, bool(result.energy[0] < 0.05 * two.sum())
    (2, (2, 120, 170), True)
    """
    mask, pixels = checked_mask(mask), seed_pixels(seeds, np.shape(mask))
    prior = prior if isinstance(prior, ShapePrior) else ShapePrior.load(prior)
    chosen = chosen_settings(setting)
    if evidence is not None:
        evidence.check(len(pixels), mask.shape)
    if scale is not None and not 0 < scale * prior.mean.mean() <= LARGEST_IN_IMAGE * np.sqrt(mask.size):
        raise ValueError(
            "the scale is a number > 0, the size of the objects relative to the prior's, whose mean radius is "
            f"{prior.mean.mean():.0f} pixels; given was {scale}, which does not suit an image of shape {mask.shape}"
        )

    clumps = split_clumps(mask, pixels)
    size = estimated_scale(clumps, prior) if scale is None else float(scale)
    radii, owner = np.zeros((len(pixels), prior.rays)), np.full(len(pixels), -1, dtype=np.int64)
    records, done = [], 0
    for clump in clumps:
        if clump.cells.size:
            evolution = evolve_at_fitting_resolution(clump, prior, chosen, size, evidence)
            evolution = followed_evolution(clump, evolution, chosen, size * prior.mean.mean())
            radii[clump.cells], owner[clump.cells] = evolution.radii, clump.label
            records.append(ClumpRecord(clump.size, evolution.history, evolution.stopped))
            done += len(clump.cells)
        else:
            records.append(ClumpRecord(clump.size, (clump.size,), "no seed"))
        if progress:
            progress(done, len(pixels))
    outside = np.flatnonzero(owner < 0)
    if outside.size:
        which = ", ".join(map(str, outside[:10])) + (" ..." if outside.size > 10 else "")
        warnings.warn(
            f"{outside.size} of {len(pixels)} seeds lie outside the mask and got an empty outline: {which}",
            SeedOutsideWarning,
            stacklevel=2,
        )
    return Segmentation((mask.shape[0], mask.shape[1]), pixels.astype(np.float64), radii, owner, tuple(records))


def segment(
    image: ArrayLike,
    *,
    regions: Regions | str | Path = "default",
    evidence: Evidence | str | None = None,
    rays: str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
    pixel_size: float | None = None,
    diameter: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Find every cell of an image, whole.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        Bright-field image: uint8, uint16, bool or float.
    regions : Regions, str or Path
        Where there is any cell and where the nuclei are; or how to find that: see the ``model`` of
        :func:`declump.find_regions`.
    evidence : Evidence or str, optional
        What tells of hidden outlines beside the clump: ``"clump"`` (nothing: the paper's method), ``"rays"`` (a network
        proposes each cell's outline), ``"layers"`` (the number of cells at a pixel), ``"rays+layers"``, or one's own.
        By default ``"rays"``; with the setting ``"paper"``, ``"clump"``. Where outlines are proposed, a large part of
        a clump that no cell explains gets a cell of its own, without a nucleus.
    rays : str or Path
        Network of the ray proposals: ``"default"``, or an ONNX file of ``declump train rays``.
    prior, setting, progress
        See :func:`evolve`.
    pixel_size : float, optional
        Micrometres a pixel; tells how large nuclei are.
    diameter : float, optional
        Usual diameter of a nucleus in pixels; goes before ``pixel_size``.

    Returns
    -------
    Segmentation
        With ``nuclei``, and ``second_nuclei`` where nuclei overlap. Cells without a found nucleus come last.
    """
    found = regions_for(image, regions, diameter=diameter, pixel_size=pixel_size)
    if evidence is None:
        evidence = "clump" if setting == "paper" else DEFAULT_EVIDENCE
    if isinstance(evidence, str):
        if diameter is None and pixel_size is not None:
            diameter = NUCLEUS_MICROMETRES / pixel_size
        if "rays" in evidence:
            found = confirmed(image, found, model=rays, diameter=diameter)
        known = gathered(image, found, evidence, model=rays, diameter=diameter)
    else:
        known = evidence
    result = evolve(found.clump, found.seeds, evidence=known, prior=prior, setting=setting, progress=progress)
    more = missing_seeds(result, found.clump) if known is not None and known.radii is not None else ()
    if known is not None and len(more):
        seeds, known = np.vstack([found.seeds, more]), known.with_unknown(len(more))
        result = evolve(found.clump, seeds, evidence=known, prior=prior, setting=setting)
    from declump.nuclear import second_nuclei  # which evolves, too

    return replace(result, nuclei=found.nuclei, second_nuclei=second_nuclei(found.nuclei))


def estimated_scale(clumps: Sequence[Clump], prior: ShapePrior) -> float:
    """Size of the objects relative to the prior's examples, from the area per seed of all clumps that have seeds."""
    seeded = [clump for clump in clumps if clump.cells.size]
    if not seeded:
        return 1.0
    area_per_seed = sum(clump.size for clump in seeded) / sum(clump.cells.size for clump in seeded)
    return float(np.sqrt(area_per_seed / contours.area(prior.mean)) / CROWDING)


def chosen_settings(setting: str | Settings) -> Settings:
    """Give the settings of a name, or settings themselves."""
    if isinstance(setting, Settings):
        return setting
    if not isinstance(setting, str) or setting not in SETTINGS:
        raise ValueError(f"the setting is {' or '.join(map(repr, SETTINGS))}, or a Settings; given was {setting!r}")
    return SETTINGS[setting]


def evolve_at_fitting_resolution(
    clump: Clump, prior: ShapePrior, settings: Settings, scale: float, evidence: Evidence | None
) -> Evolution:
    """Evolve a clump, of very large objects on every n-th pixel; on the way its discrepancy counts each for n x n."""
    size = scale * prior.mean.mean()
    clump = clump.with_room(int(ROOM * size))
    own = None if evidence is None else evidence_of(clump, evidence)
    stride = min(int(np.ceil(size / LARGEST_RADIUS)), *clump.mask.shape)
    if stride == 1:
        return _selected(clump, prior, settings, scale, own)
    mask = np.ascontiguousarray(clump.mask[stride // 2 :: stride, stride // 2 :: stride])
    seeds = np.minimum(clump.seeds // stride, np.array(mask.shape) - 1)
    own = None if own is None else own.strided(stride)
    coarse = replace(clump, mask=mask, seeds=seeds)
    evolution = _selected(coarse, prior, settings, scale / stride, own)
    radii = evolution.radii * stride
    history = [value * stride**2 for value in evolution.history[:-1]]
    return replace(evolution, radii=radii, history=(*history, hard_discrepancy(clump.mask, clump.seeds, radii)))


def followed_evolution(clump: Clump, evolution: Evolution, settings: Settings, size: float) -> Evolution:
    """Let outlines follow the edge of the clump, if the settings say so and that explains it no worse."""
    if not settings.follow:
        return evolution
    clump = clump.with_room(int(ROOM * size))
    radii = followed(clump.mask, clump.seeds, evolution.radii, settings.follow)
    left = hard_discrepancy(clump.mask, clump.seeds, radii)
    return (
        replace(evolution, radii=radii, history=(*evolution.history, left))
        if left <= evolution.history[-1]
        else evolution
    )


def _selected(
    clump: Clump, prior: ShapePrior, settings: Settings, scale: float, evidence: Evidence | None
) -> Evolution:
    """Find the shapes of one clump in the way of the settings; the paper's ablations heed no evidence."""
    if settings.selection == "level sets":
        from declump.level_evolution import evolve_clump_by_level_sets

        return evolve_clump_by_level_sets(clump, prior, settings, scale=scale)
    if settings.hypotheses == "examples":
        from declump.example_evolution import evolve_clump_by_examples

        return evolve_clump_by_examples(clump, prior, settings, scale=scale)
    return evolve_clump(clump, prior, settings, scale=scale, evidence=evidence)
