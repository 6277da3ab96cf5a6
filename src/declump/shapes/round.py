"""Shapes of round things from geometry alone: ellipses in all directions, seen from off their centres, a bit bumpy.

No direction goes before another, so the covariance of the radii of all these shapes is the same for every turn, and its
eigenvectors are the waves round the circle: the cosine and sine of each whole number of waves, with the mean power of
that wave among the shapes as their variance. :meth:`declump.ShapePrior.fit` on ever more turned copies of the shapes
comes to the same; written down like this it is exact, and the same on every machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RADIUS = 64.0
"""Radius in pixels of a disc with the area of the shapes; only ratios to it matter."""
ASPECTS = (1.0, 3.0)
"""Least and greatest ratio of the axes; evenly spaced in its logarithm between them."""
OFF_CENTRE = 0.2
"""Greatest distance of a seed from the centre, as a share of the way to the outline."""
BUMPS = 0.03
"""Standard deviation of the radii by bumps and corners, as a share of the radius."""
BUMP_WAVES = np.arange(3, 13)
"""Waves round the circle that bumps are made of: three make a triangle; the more waves, the lower they are."""
EXPLAINED = 0.999
"""Share of the variance that the modes exceed: bumps are few per cent of it beside the ratio of the axes."""


class RoundShapes(NamedTuple):
    """Statistics of round shapes: mean (K,) in pixels, modes (K, t), variances (t,), and what they were made from."""

    mean: Floats
    modes: Floats
    variances: Floats
    card: dict[str, Any]


def describe_round_shapes(rays: int = 360, *, explained: float = EXPLAINED) -> RoundShapes:
    """Give the statistics of round shapes, of which ``ShapePrior.load("round")`` is made.

    Parameters
    ----------
    rays : int
        Number of radii K.
    explained : float
        Share of the variance that the modes exceed.

    Returns
    -------
    RoundShapes
    """
    shapes = make_off_centre_ellipses(rays)
    spectrum = np.fft.rfft(shapes, axis=1) / rays
    # A wave a cos + b sin has the power |a + ib|^2 / 2, which its cosine and its sine share.
    power = np.mean(np.abs(spectrum) ** 2, axis=0)
    power[0] = np.var(spectrum[:, 0].real)
    amplitudes = 1.0 / BUMP_WAVES
    power[BUMP_WAVES] += (BUMPS * RADIUS) ** 2 * amplitudes**2 / np.sum(amplitudes**2) / 2

    waves = np.arange(len(power))
    angles = 2 * np.pi * np.arange(rays) / rays
    modes = [np.full(rays, rays**-0.5)]
    variances = [rays * power[0]]
    for wave in waves[1 : (rays + 1) // 2]:
        modes += [np.sqrt(2 / rays) * turn(wave * angles) for turn in (np.cos, np.sin)]
        variances += [rays * power[wave]] * 2
    order = np.argsort(variances, kind="stable")[::-1]
    share = np.cumsum(np.array(variances)[order]) / np.sum(variances)
    kept = order[: int(np.searchsorted(share, explained, side="right")) + 1]
    card = {"made from": "ellipses", "aspect": list(ASPECTS), "off centre": OFF_CENTRE, "bumps": BUMPS}
    mean = np.full(rays, spectrum[:, 0].real.mean())
    return RoundShapes(mean, np.array(modes)[kept].T, np.array(variances)[kept], card)


def make_off_centre_ellipses(rays: int) -> Floats:
    """Radii (N, K) of ellipses of one area and direction, all ratios of the axes and places of the seed."""
    angles = 2 * np.pi * np.arange(rays) / rays
    aspect, offset, towards = (
        part.reshape(-1, 1)
        for part in np.meshgrid(
            np.geomspace(*ASPECTS, 9), np.linspace(0, OFF_CENTRE, 5), 2 * np.pi * np.arange(12) / 12, indexing="ij"
        )
    )
    # In units of the half axes the ellipse is the unit circle: |place + radius * direction| = 1.
    rows, columns = np.sin(angles) * np.sqrt(aspect), np.cos(angles) / np.sqrt(aspect)
    along = offset * (np.sin(towards) * rows + np.cos(towards) * columns)
    squared = rows**2 + columns**2
    return np.asarray(RADIUS * (np.sqrt(along**2 + squared * (1 - offset**2)) - along) / squared)
