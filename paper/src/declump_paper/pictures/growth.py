"""The shapes of one clump growing: as a strip of pictures, and animated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.drawing import pen
from declump.drawing.display import to_display
from declump.drawing.palette import COLOURS
from declump.evolution.claims import keep_claimed
from declump.evolution.evolve import ROOM, estimate_scale, find_prior, find_settings, round_evolution, snap_evolution
from declump.evolution.settings import Settings
from declump.evolution.trust_region import evolve_clump
from declump.pictures.colouring import category_colours
from declump.pictures.outlines import draw_cells
from declump.pictures.sheet import mosaic
from declump.records.clump import Clump, split_clumps
from declump.records.evidence import Evidence
from declump.records.segmentation import Segmentation
from declump.shapes.prior import ShapePrior

LAST = 2.0
"""Seconds for which an animation shows the end before it begins anew."""


@dataclass(frozen=True, eq=False)
class Growth:
    """The outlines of all cells of one clump, from the start of the evolution to its end.

    Attributes
    ----------
    clump : Clump
        In a crop with room for its cells.
    radii : (S, n, K) float64
        Outlines in pixels at the start and after every step.
    history : tuple of int
        Hard discrepancy in pixels at the same moments.
    """

    clump: Clump
    radii: NDArray[np.float64]
    history: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of moments, the start included."""
        return len(self.radii)


def record_growth(
    mask: ArrayLike,
    seeds: ArrayLike,
    *,
    clump: int | None = None,
    evidence: Evidence | None = None,
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
) -> Growth:
    """Evolve one clump and keep all shapes on the way.

    Parameters
    ----------
    mask, seeds, evidence, prior, setting
        See :func:`declump.evolve`. The clump is evolved at full resolution, however large its cells are.
    clump : int, optional
        Number of the clump, from 0, as in :attr:`declump.Segmentation.clump`; by default the one with most cells.

    Returns
    -------
    Growth

    Raises
    ------
    ValueError
        If there is no such clump, or no seed lies in it.
    """
    found = split_clumps(mask, seeds)
    if clump is not None and not 0 <= clump < len(found):
        raise ValueError(f"the mask has {len(found)} clumps, counted from 0; asked was for {clump}")
    chosen = max(found, key=lambda one: one.cells.size, default=None) if clump is None else found[clump]
    if chosen is None or not chosen.cells.size:
        raise ValueError("no seed lies in the clump, so that nothing grows; give the seeds of its cells")
    settings = find_settings(setting)
    prior = find_prior(prior, settings)
    scale = estimate_scale(found, prior)
    size = float(scale * prior.mean.mean())
    chosen = chosen.with_room(int(ROOM * size))
    claimed = keep_claimed(chosen, evidence, settings, size, prior.rays)
    steps: list[NDArray[np.float64]] = []
    evolution = evolve_clump(
        claimed,
        prior,
        settings,
        scale=scale,
        evidence=None if evidence is None else evidence.restrict(claimed),
        on_step=lambda radii: steps.append(radii.copy()),
    )
    last = round_evolution(chosen, claimed, snap_evolution(claimed, evolution, settings, size))
    if len(last.history) > len(evolution.history):
        steps.append(last.radii)
    steps[-1] = last.radii
    return Growth(chosen, np.array(steps), last.history)


def growth_strip(
    growth: Growth, image: ArrayLike | None = None, *, count: int = 6, columns: int | None = None
) -> NDArray[np.uint8]:
    """Show moments of the growth side by side.

    Parameters
    ----------
    growth : Growth
    image : (H, W) or (H, W, 3), optional
        The whole image, to draw over; by default the clump.
    count : int
        Number of moments: the start, the end, and evenly between them; fewer if there are not as many.
    columns : int, optional
        Pictures in a row; by default all.

    Returns
    -------
    (H, W, 3) uint8
    """
    if count < 1:
        raise ValueError(f"a strip shows at least one moment; asked was for {count}")
    # Of a single moment the end is what there is to see.
    moments = np.unique(np.rint(np.linspace(len(growth) - 1, 0, count)).astype(int))
    frames = _draw_frames(growth, image)
    return mosaic([frames[moment] for moment in moments], columns=columns)


def write_growth(growth: Growth, path: str | Path, image: ArrayLike | None = None, *, seconds: float = 0.3) -> None:
    """Write the growth as an animated picture that runs for ever; the same growth gives the same bytes.

    Parameters
    ----------
    growth : Growth
    path : str or Path
        ``.gif``, or ``.png`` for an animated PNG, with all colours and a larger file.
    image : (H, W) or (H, W, 3), optional
        See :func:`growth_strip`.
    seconds : float
        For which every step is shown; the end stays for two.
    """
    from PIL import Image

    path = Path(path)
    kinds = {".gif": "GIF", ".png": "PNG", ".apng": "PNG"}
    if path.suffix.lower() not in kinds or not seconds > 0:
        raise ValueError(f"an animation is a .gif or .png with seconds > 0 a step; given were {path.name}, {seconds}")
    first, *others = (Image.fromarray(frame) for frame in _draw_frames(growth, image))
    durations = [round(1000 * seconds)] * len(others) + [round(1000 * LAST)]
    options = {"save_all": True, "append_images": others, "duration": durations, "loop": 0}
    first.save(path, kinds[path.suffix.lower()], **options)


def _draw_frames(growth: Growth, image: ArrayLike | None) -> list[NDArray[np.uint8]]:
    """All moments drawn and captioned, cut to where anything ever happens."""
    clump = growth.clump
    (top, left), (height, width) = clump.origin, clump.mask.shape
    if image is not None and np.shape(image)[:2] != clump.image_shape:
        raise ValueError(f"the image is {np.shape(image)[:2]}, the clump was found in one of {clump.image_shape}")
    picture = to_display(clump.mask) if image is None else to_display(image)[top : top + height, left : left + width]
    drawing = Segmentation(
        (height, width), clump.seeds.astype(np.float64), growth.radii[-1], np.zeros_like(clump.cells)
    )
    moments = [replace(drawing, radii=radii) for radii in growth.radii]
    around = np.concatenate([moment.polygons.reshape(-1, 2) for moment in moments] + [np.argwhere(clump.mask)])
    first = np.clip(np.floor(around.min(axis=0)) - 4, 0, (height, width)).astype(int)
    end = np.clip(np.ceil(around.max(axis=0)) + 5, 0, (height, width)).astype(int)
    # Those of the end all the way, so that a cell keeps its colour.
    colours = np.array(COLOURS)[category_colours(drawing)]
    size, frames = pen.SMALLEST_TEXT, []
    for step, (moment, discrepancy) in enumerate(zip(moments, growth.history, strict=True)):
        whole = picture.copy()
        draw_cells(whole, moment, colours)
        drawn = whole[first[0] : end[0], first[1] : end[1]]
        strip = np.full((size + 6, drawn.shape[1], 3), 255, np.uint8)
        share = 100 * discrepancy / clump.size
        pen.write(strip, [(f"step {step}: {share:.1f} % off", (len(strip) / 2, 2.0))], size=size)
        frames.append(np.vstack([drawn, strip]))
    return frames
