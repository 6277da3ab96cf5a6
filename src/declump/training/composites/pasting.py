"""Cut-outs turned, stretched and multiplied onto frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.training.composites.cutouts import CutOut, Floats, Masks

SCALES = (0.85, 1.2)
"""Least and largest change of the size of a cut-out."""
STRETCH = 0.12
"""Standard deviation of the logarithm by which it is longer than broad."""
STRENGTH = 0.18
"""Standard deviation of the logarithm by which its stain is stronger."""


@dataclass(frozen=True, eq=False)
class Laid:
    """A cut-out that was laid onto a frame: its masks, and the window of the frame that they cover."""

    window: tuple[slice, slice]
    cell: Masks
    nucleus: Masks


def transform(cut: CutOut, rng: np.random.Generator) -> CutOut:
    """Turn, mirror, scale and stretch a cut-out, and change the strength of its stain."""
    turn, scale = rng.uniform(0, 2 * np.pi), np.exp(rng.uniform(*np.log(SCALES)))
    longer, strength = np.exp(rng.normal(0, STRETCH)), np.exp(rng.normal(0, STRENGTH))
    cosine, sine = np.cos(turn), np.sin(turn)
    forward = np.array([[cosine, -sine], [sine, cosine]]) @ np.diag([scale * longer, scale / longer])
    forward[:, 1] *= rng.choice([-1, 1])
    half = np.array(cut.cell.shape) / 2
    size = np.ceil(2 * np.abs(forward) @ half).astype(int) + 1
    back = np.linalg.inv(forward)
    offset = half - 0.5 - back @ ((size - 1) / 2)

    def move(plane: NDArray[np.floating], beyond: float) -> NDArray[np.float32]:
        moved = ndimage.affine_transform(plane, back, offset, tuple(size), order=1, cval=beyond)
        return np.asarray(moved, np.float32)

    light = np.stack([move(plane, 1.0) for plane in np.moveaxis(cut.light, 2, 0)], axis=2)
    masks = (move(mask.astype(np.float32), 0.0) > 0.5 for mask in (cut.cell, cut.nucleus))
    return CutOut(light ** np.float32(strength), *masks)


def lay(factor: Floats, cut: CutOut, centre: Sequence[int]) -> Laid | None:
    """Multiply a cut-out onto the light (H, W, C) that passes, in place; None where nothing of it is in the frame."""
    shape = cut.cell.shape
    corner = [middle - side // 2 for middle, side in zip(centre, shape, strict=True)]
    window = tuple(
        slice(max(start, 0), min(start + side, end))
        for start, side, end in zip(corner, shape, factor.shape[:2], strict=True)
    )
    if any(side.stop <= side.start for side in window):
        return None
    inner = tuple(slice(side.start - start, side.stop - start) for side, start in zip(window, corner, strict=True))
    light = cut.light[inner]
    # A grey frame takes the mean light of a thing in colour.
    factor[window] *= light if light.shape[2] <= factor.shape[2] else light.mean(axis=2, keepdims=True)
    return Laid((window[0], window[1]), cut.cell[inner], cut.nucleus[inner])
