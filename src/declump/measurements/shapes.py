"""How usual the shape of a cell is, in the eyes of a prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.shapes import contours
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]


def shape_coefficients(radii: Floats, prior: ShapePrior, usual: float | None = None) -> Floats:
    """Coefficients of outlines along the modes of a prior, in standard deviations of the modes.

    As in :func:`declump.evolve`, one scale stands for the whole image, here the one that gives the median cell the
    area of the prior's mean shape: a cell that is large among its neighbours is unusual, an image at another
    magnification is not. Outlines are taken as they lie, not turned: a prior learnt with turned copies, as the default
    one is, expects every direction alike: its modes come in pairs, and as a cell turns, the length of the coefficients
    changes by no more than what the last mode gives if the other of its pair was cut off.

    Parameters
    ----------
    radii : (N, K) float64
        Outlines in pixels; another number of rays than the prior's is interpolated.
    prior : ShapePrior
    usual : float, optional
        Area of the median cell in square pixels, where these are only some of an image's.

    Returns
    -------
    (N, t) float64
        Their length is the Mahalanobis distance from the mean shape; NaN for a cell without an outline.
    """
    areas = np.asarray(contours.area(radii))
    outlined = areas > 0
    result = np.full((len(radii), prior.variances.size), np.nan)
    if outlined.any():
        median = np.median(areas[outlined]) if usual is None else usual
        scale = np.sqrt(median / contours.area(prior.mean))
        shapes = _on_rays(radii[outlined], prior.rays) / scale
        result[outlined] = prior.project(shapes) / np.sqrt(prior.variances)
    return result


def _on_rays(radii: Floats, rays: int) -> Floats:
    """Radii on another number of rays, by linear interpolation round the circle."""
    own = radii.shape[1]
    if own == rays:
        return radii
    places = np.arange(rays) * own / rays
    before = np.floor(places).astype(int)
    part = places - before
    return np.asarray((1 - part) * radii[:, before % own] + part * radii[:, (before + 1) % own])
