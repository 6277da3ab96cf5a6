"""First cells of MCL: a Gaussian round each nucleus, and the clump's pixels labelled with nuclei by a random field."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.records.clump import Clump
from declump_paper.regions.expansion import alpha_expansion

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

DIRECTIONS = 15
"""Directions of a Gaussian: 12 degree steps over half a turn."""
SCALES = 10
MAX_GRID = 48
"""A Gaussian is held against the clump on every n-th pixel, so that this many rows and columns are enough."""
MAX_FIELD = 4000
"""Nodes of the random field, about; larger clumps are labelled on every n-th pixel."""
DIFFERENT = 0.1
CONTRAST = 0.2
"""Cost of different labels, and spread of the grey levels (0 to 1) across which it falls to nothing."""
LEAST = 1e-6
"""Probabilities are at least this."""


def label_pixels(grey: Floats, clump: Clump) -> Masks:
    """Give every pixel of a clump to one of its nuclei.

    Parameters
    ----------
    grey : (h, w) float64
        Grey levels, 1 in the background.
    clump : Clump

    Returns
    -------
    (n, h, w) bool
        One mask a nucleus, never empty; they do not overlap, but for seeds.
    """
    from scipy.spatial import cKDTree

    masks = np.zeros((len(clump.seeds), *clump.mask.shape), dtype=np.bool_)
    if len(clump.seeds) == 1:
        masks[0] = clump.mask
        return masks
    stride = max(int(np.ceil(np.sqrt(clump.size / MAX_FIELD))), 1)
    if not clump.mask[stride // 2 :: stride, stride // 2 :: stride].any():
        stride = 1
    grid = np.s_[stride // 2 :: stride, stride // 2 :: stride]
    inside = clump.mask[grid]
    places = (np.argwhere(inside) * stride + stride // 2).astype(np.float64)
    chances = np.column_stack([gaussian(places) for gaussian in fit_gaussians(clump)])
    edges, weights = neighbouring(inside, grey[grid])
    labels = alpha_expansion(label_costs(chances), edges, weights)
    # Every pixel of the clump takes the label of the nearest node.
    pixels = np.argwhere(clump.mask)
    _, nearest = cKDTree(places).query(pixels)
    masks[labels[nearest], pixels[:, 0], pixels[:, 1]] = True
    masks[np.arange(len(masks)), clump.seeds[:, 0], clump.seeds[:, 1]] = True
    return masks


def label_costs(chances: Floats) -> Floats:
    """Costs (P, n) ``-log(p_l prod_k (1 - p_k))`` of the labels, from the Gaussians (P, n) at the pixels."""
    chances = np.clip(chances, LEAST, 1 - LEAST)
    others = np.log1p(-chances).sum(axis=1, keepdims=True) - np.log1p(-chances)
    return np.asarray(-np.log(chances) - others)


def neighbouring(inside: NDArray[np.bool_], grey: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Pairs (E, 2) of nodes side by side, and what different labels cost them (E,): nothing across an edge.

    The published pair costs 0.1 where labels differ and ``1 - exp(-|dI| / (2 0.2^2))`` where they do not; what counts
    is the difference, as far as it is positive.
    """
    number = np.full(inside.shape, -1, dtype=np.int64)
    number[inside] = np.arange(np.count_nonzero(inside))
    pairs, steps = [], []
    for before, after in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])):
        both = inside[before] & inside[after]
        pairs.append(np.column_stack([number[before][both], number[after][both]]))
        steps.append(np.abs(grey[before][both] - grey[after][both]))
    contrast = 1 - np.exp(-np.concatenate(steps) / (2 * CONTRAST**2))
    return np.concatenate(pairs), np.maximum(DIFFERENT - contrast, 0.0)


class Gaussian:
    """A Gaussian, 1 at its centre, with two spreads along a direction and across it."""

    def __init__(self, centre: NDArray[np.int64], direction: float, along: float, across: float) -> None:
        self.centre, self.along, self.across = centre, along, across
        self.axis = np.array([np.sin(direction), np.cos(direction)])

    def __call__(self, places: Floats) -> Floats:
        """Values (P,) at places (P, 2)."""
        offsets = places - self.centre
        first = offsets @ self.axis / self.along
        second = offsets @ np.array([self.axis[1], -self.axis[0]]) / self.across
        return np.asarray(np.exp(-(first**2 + second**2) / 2))


def fit_gaussians(clump: Clump) -> list[Gaussian]:
    """One Gaussian a seed: the one that suits best the part of the clump that is nearest to the seed.

    Spreads go from half the smallest to the largest of all nuclei's distances from the outline. A Gaussian is worth its
    integral over the part, all Gaussians having the same power, as in a matched filter; its direction is the one that
    is worth most over all spreads.
    """
    from scipy import ndimage
    from scipy.spatial import cKDTree

    depths = ndimage.distance_transform_edt(clump.mask)[tuple(clump.seeds.T)]
    spreads = np.linspace(depths.min() / 2, depths.max(), SCALES)
    pixels = np.argwhere(clump.mask)
    _, owner = cKDTree(clump.seeds).query(pixels)
    angles = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    turns = np.stack([np.sin(angles), np.cos(angles)])
    gaussians = []
    for index, seed in enumerate(clump.seeds):
        places = pixels[owner == index]
        stride = max(int(np.ceil(np.ptp(places, axis=0).max() / MAX_GRID)), 1)
        offsets = (places - seed)[((places - seed) % stride == 0).all(axis=1)]
        along, across = offsets @ turns, offsets[:, ::-1] @ (turns * [[-1], [1]])
        falls = [
            np.exp(-((part.T[:, None] / spreads[:, None]) ** 2) / 2) / np.sqrt(spreads[:, None])
            for part in (along, across)
        ]
        worth = np.einsum("dap,dbp->dab", *falls)
        direction = int(worth.sum(axis=(1, 2)).argmax())
        first, second = np.unravel_index(int(worth[direction].argmax()), worth.shape[1:])
        gaussians.append(Gaussian(seed, float(angles[direction]), float(spreads[first]), float(spreads[second])))
    return gaussians
