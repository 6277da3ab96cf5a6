"""Ellipses through the points of a star-convex outline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def ellipse_radii(radii: Floats, weights: Floats) -> Floats | None:
    """Radii of the ellipse that fits the points of an outline best, seen from the outline's own seed.

    The direct least-squares fit of Fitzgibbon, Pilu and Fisher in the stable form of Halir and Flusser, with weights;
    a point stands for the length of outline it is in the middle of, which grows with its radius.

    Parameters
    ----------
    radii : (K,) float
        Radii of the points, positive.
    weights : (K,) float
        How much each point counts, >= 0.

    Returns
    -------
    (K,) float64 or None
        None where no ellipse fits, or the seed does not lie inside it.
    """
    angles = 2 * np.pi * np.arange(len(radii)) / len(radii)
    rows, columns = np.sin(angles), np.cos(angles)
    unit = float(radii.mean())
    y, x = radii * rows / unit, radii * columns / unit
    share = np.sqrt(weights * radii / unit)[:, None]
    squares, lines = share * np.stack([x * x, x * y, y * y], axis=1), share * np.stack([x, y, np.ones_like(x)], axis=1)
    try:
        linear = -np.linalg.solve(lines.T @ lines, lines.T @ squares)
        reduced = squares.T @ squares + squares.T @ lines @ linear
        # The constraint 4ac - b^2 = 1, which makes the conic an ellipse, taken to the left side.
        _, vectors = np.linalg.eig(np.stack([reduced[2] / 2, -reduced[1], reduced[0] / 2]))
    except np.linalg.LinAlgError:
        return None
    vectors = np.real(vectors)
    chosen = np.flatnonzero(4 * vectors[0] * vectors[2] - vectors[1] ** 2 > 0)
    if not chosen.size:
        return None
    conic = vectors[:, chosen[0]]
    second = conic @ np.stack([columns * columns, columns * rows, rows * rows])
    first, constant = (linear @ conic)[:2] @ np.stack([columns, rows]), float((linear @ conic)[2])
    # From inside an ellipse every ray meets it once ahead and once behind: the two roots have different signs.
    if (second * constant >= 0).any():
        return None
    root = np.sqrt(first**2 - 4 * second * constant)
    return np.asarray(unit * (-first + np.sign(second) * root) / (2 * second))
