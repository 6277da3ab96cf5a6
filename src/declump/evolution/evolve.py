"""From a clump mask and seeds to whole outlines: every clump evolved on its own, at a resolution that fits it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.evolution.claims import keep_claimed
from declump.evolution.settings import SETTINGS, Settings
from declump.evolution.snapping import snap_to_boundary
from declump.evolution.terms.discrepancy import count_discrepancy
from declump.evolution.trust_region import Evolution, evolve_clump
from declump.records.clump import Clump, SeedOutsideWarning, check_mask, seed_pixels, split_checked
from declump.records.evidence import Evidence
from declump.records.segmentation import ClumpRecord, Segmentation
from declump.shapes import contours
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]

CROWDING = 0.94
"""Usual ratio of the radius of a disc with a clump's area per seed to that of a disc with a whole cell's area."""
MAX_IN_IMAGE = 4.0
"""Mean radii up to this many times the side of a square of the image's area are accepted as a scale."""
ROOM = 2.0
"""How far round a clump outlines are followed, in mean radii of the objects."""
RADIUS_UNIT = 1 / 16
"""Pixels that final radii are whole numbers of."""
MAX_RADIUS = 256.0
"""Objects with a larger mean radius, in pixels, are evolved on a coarser grid: nothing is gained by a finer one."""


class Solver(Protocol):
    """What finds the shapes of one clump: the trust region, or another in its place."""

    def __call__(
        self, clump: Clump, prior: ShapePrior, settings: Settings, *, scale: float, evidence: Evidence | None
    ) -> Evolution:
        """Find the outlines of all cells of a clump; see :func:`declump.evolution.trust_region.evolve_clump`."""


def evolve(
    mask: ArrayLike,
    seeds: ArrayLike,
    *,
    evidence: Evidence | None = None,
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
    scale: float | None = None,
    solver: Solver = evolve_clump,
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
        What is known of the objects beside the mask: proposals of their outlines, one row a seed, with their standard
        deviations. Heeded by ``"joint"`` alone.
    prior : ShapePrior, str or Path
        What shapes to expect: ``"default"`` (cervical cells; with a setting of the paper ``"paper"``, the same cells
        without turned and mirrored copies), another name (:meth:`ShapePrior.load`), the path of a file, or a prior.
    setting : "joint", "paper" or Settings
        ``"joint"``: shape, scale and rotation evolve together, inside three standard deviations and at a price for
        unusual shapes. ``"paper"``: the published method, cells aligned once, then their shapes alone evolve.
    scale : float, optional
        Size of the objects relative to the prior's examples. By default it follows from the area per seed.
    solver : callable
        What finds the shapes of a clump: by default the trust region over all its cells.
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
    mask, pixels = check_mask(mask), seed_pixels(seeds, np.shape(mask))
    chosen = find_settings(setting)
    prior = find_prior(prior, chosen)
    if evidence is not None:
        if not isinstance(evidence, Evidence):
            raise TypeError(f"the evidence is an Evidence, or None; given was {evidence!r}")
        evidence.check(len(pixels), mask.shape)
    if scale is not None and not 0 < scale * prior.mean.mean() <= MAX_IN_IMAGE * np.sqrt(mask.size):
        raise ValueError(
            "the scale is a number > 0, the size of the objects relative to the prior's, whose mean radius is "
            f"{prior.mean.mean():.0f} pixels; given was {scale}, which does not suit an image of shape {mask.shape}"
        )

    clumps = split_checked(mask, pixels)
    size = estimate_scale(clumps, prior) if scale is None else float(scale)
    radii, owner = np.zeros((len(pixels), prior.rays)), np.full(len(pixels), -1, dtype=np.int64)
    records, done = [], 0
    for clump in clumps:
        radii[clump.cells], record = evolve_one(clump, prior, chosen, size, evidence, solver)
        owner[clump.cells] = clump.label
        records.append(record)
        done += len(clump.cells)
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


def evolve_one(
    clump: Clump, prior: ShapePrior, settings: Settings, scale: float, evidence: Evidence | None, solver: Solver
) -> tuple[Floats, ClumpRecord]:
    """Outlines (n, K) of the n cells of a clump, and how it was explained."""
    if not clump.cells.size:
        return np.empty((0, prior.rays)), ClumpRecord(clump.size, (clump.size,), "no seed")
    size = scale * prior.mean.mean()
    claimed = keep_claimed(clump, evidence, settings, size, prior.rays)
    evolution = evolve_at_resolution(claimed, prior, settings, scale, evidence, solver)
    evolution = snap_evolution(claimed, evolution, settings, size)
    evolution = round_evolution(clump, claimed, evolution)
    return evolution.radii, ClumpRecord(clump.size, evolution.history, evolution.stopped)


def round_evolution(clump: Clump, claimed: Clump, evolution: Evolution) -> Evolution:
    """Round radii to whole ``RADIUS_UNIT``, as they are stored, so that memory and files hold the same outlines.

    What no cell of the clump claims counts as unexplained; outlines that reach into it are heeded at the end alone.
    """
    radii = np.asarray(np.floor(evolution.radii / RADIUS_UNIT + 0.5) * RADIUS_UNIT)
    left = count_discrepancy(clump.with_room(clump.reach_beyond(radii)), radii)
    beyond = clump.size - claimed.size
    return replace(evolution, radii=radii, history=(*(value + beyond for value in evolution.history[:-1]), left))


def estimate_scale(clumps: Sequence[Clump], prior: ShapePrior) -> float:
    """Size of the objects relative to the prior's examples, from the area per seed of all clumps that have seeds."""
    return scale_by_areas([clump.size for clump in clumps], [clump.cells.size for clump in clumps], prior)


def scale_by_areas(sizes: Sequence[int], members: Sequence[int], prior: ShapePrior) -> float:
    """Scale by the areas of clumps in pixels and the numbers of their seeds."""
    seeded = [(size, count) for size, count in zip(sizes, members, strict=True) if count]
    if not seeded:
        return 1.0
    area_per_seed = sum(size for size, _ in seeded) / sum(count for _, count in seeded)
    return float(np.sqrt(area_per_seed / contours.area(prior.mean)) / CROWDING)


def find_settings(setting: str | Settings) -> Settings:
    """Give the settings of a name, or settings themselves."""
    if isinstance(setting, Settings):
        return setting
    if not isinstance(setting, str) or setting not in SETTINGS:
        raise ValueError(f"the setting is {' or '.join(map(repr, SETTINGS))}, or a Settings; given was {setting!r}")
    return SETTINGS[setting]


def find_prior(prior: ShapePrior | str | Path, settings: Settings) -> ShapePrior:
    """Give the prior that is meant; the default of a reading of the paper has no turned and mirrored copies."""
    if isinstance(prior, ShapePrior):
        return prior
    return ShapePrior.load("paper" if str(prior) == "default" and settings.alignment != "joint" else prior)


def evolve_at_resolution(
    clump: Clump,
    prior: ShapePrior,
    settings: Settings,
    scale: float,
    evidence: Evidence | None,
    solver: Solver = evolve_clump,
) -> Evolution:
    """Evolve a clump, of very large objects on every n-th pixel; on the way its discrepancy counts each for n x n.

    Outlines that outgrow the room they were given are evolved again with more: beyond it nothing would be counted.
    """
    room = int(ROOM * scale * prior.mean.mean())
    evolution = _evolve_in_room(clump.with_room(room), prior, settings, scale, evidence, solver)
    while (needed := clump.reach_beyond(evolution.radii)) > room:
        room = max(needed, 2 * room)
        evolution = _evolve_in_room(clump.with_room(room), prior, settings, scale, evidence, solver)
    return evolution


def _evolve_in_room(
    clump: Clump, prior: ShapePrior, settings: Settings, scale: float, evidence: Evidence | None, solver: Solver
) -> Evolution:
    size = scale * prior.mean.mean()
    own = None if evidence is None else evidence.restrict(clump)
    stride = min(int(np.ceil(size / MAX_RADIUS)), *clump.mask.shape)
    if stride == 1:
        return solver(clump, prior, settings, scale=scale, evidence=own)
    mask = np.ascontiguousarray(clump.mask[stride // 2 :: stride, stride // 2 :: stride])
    seeds = np.minimum(clump.seeds // stride, np.array(mask.shape) - 1)
    own = None if own is None else own.stride(stride)
    coarse = replace(clump, mask=mask, seeds=seeds)
    evolution = solver(coarse, prior, settings, scale=scale / stride, evidence=own)
    radii = evolution.radii * stride
    history = [value * stride**2 for value in evolution.history[:-1]]
    return replace(evolution, radii=radii, history=(*history, clump.discrepancy(radii)))


def snap_evolution(clump: Clump, evolution: Evolution, settings: Settings, size: float) -> Evolution:
    """Snap outlines to the edge of the clump, if the settings say so and that explains it no worse."""
    if not settings.snap:
        return evolution
    clump = clump.with_room(max(int(ROOM * size), clump.reach_beyond(evolution.radii)))
    exits = clump.first_exits(evolution.radii.shape[1])
    radii = snap_to_boundary(clump.mask, clump.seeds, evolution.radii, settings.snap, exits)
    left = count_discrepancy(clump, radii)
    return (
        replace(evolution, radii=radii, history=(*evolution.history, left))
        if left <= evolution.history[-1]
        else evolution
    )
