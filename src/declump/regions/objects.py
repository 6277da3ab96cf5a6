"""Centres of nuclei and of other objects, read from the heat maps of the smear network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.regions.answers import KINDS, STEP, Answer

LEAST = 0.1
"""Least height of a peak."""
APART = 2
"""A peak is the highest of the places so near to it, in each direction."""


@dataclass(frozen=True, eq=False)
class Objects:
    """Centres of objects of any kind, the surest first.

    Attributes
    ----------
    places : (N, 2) float64
        Row and column in pixels.
    probability : (N, 4) float32
        Of being a nucleus, a leukocyte, a red cell or something else.
    grades : (N, 2) float32
        Of being an abnormal nucleus, and one of high grade.
    """

    places: NDArray[np.float64]
    probability: NDArray[np.float32]
    grades: NDArray[np.float32]

    @property
    def kinds(self) -> NDArray[np.int64]:
        """Most probable kind of each."""
        return np.asarray(self.probability.argmax(axis=1), np.int64)


def find_objects(answer: Answer, *, kinds: tuple[int, ...] = (0,), least: float = LEAST) -> Objects:
    """Find the peaks of the highest of some heat maps.

    Parameters
    ----------
    answer : Answer
    kinds : tuple of int
        Which of the kinds are looked for, by default nuclei alone.
    least : float
        Least height of a peak.
    """
    heat = answer.centres[list(kinds)].max(axis=0)
    highest = ndimage.maximum_filter(heat, 2 * APART + 1, mode="constant") == heat
    rows, columns = np.nonzero(highest & (heat >= least))
    order = np.argsort(-heat[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    places = np.column_stack([_refine(heat, rows, columns, axis) for axis in (0, 1)])
    reach = 1
    # A probability is the highest near the peak: heat maps of different kinds need not have it at the same place.
    near = ndimage.maximum_filter(answer.centres, (1, 2 * reach + 1, 2 * reach + 1), mode="nearest")[:, rows, columns]
    return Objects((places + 0.5) * STEP - 0.5, near[: len(KINDS)].T, near[len(KINDS) :].T)


def _refine(heat: NDArray[np.float32], rows: NDArray[np.intp], columns: NDArray[np.intp], axis: int) -> NDArray[np.float64]:
    """Place of peaks along an axis, by the parabola through three values."""
    padded = np.pad(np.log(np.maximum(heat, 1e-6)).astype(np.float64), 1, mode="edge")
    step = (1, 0) if axis == 0 else (0, 1)
    before, here, after = (
        padded[rows + 1 + sign * step[0], columns + 1 + sign * step[1]] for sign in (-1, 0, 1)
    )
    bent = before - 2 * here + after
    shift = np.divide(before - after, 2 * bent, out=np.zeros_like(bent), where=bent < -1e-9)
    return (rows, columns)[axis] + np.clip(shift, -0.5, 0.5)
