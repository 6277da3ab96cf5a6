"""Checks on a result: cells that a person should look at before they are counted or measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.records.crops import Crop

TWINS = 0.8
"""Two cells that share this part of their union have nearly the same outline; of true pairs hardly any has."""
SPIKE_WINDOW = 1 / 12
"""A spike is narrower than half of this part of a turn, as seen from the seed."""
SPIKE = 1.5
"""It reaches out this many times as far as the outline beside it."""
SECOND_NUCLEUS = 0.25
"""A second piece of a nucleus with this share of the whole is a nucleus of its own."""


@dataclass(frozen=True)
class CellWarning:
    """What is doubtful about a cell.

    Attributes
    ----------
    cell : int
        Number of the cell, from 1.
    kind : str
        "twin", "binucleate", "no nucleus" or "spike".
    text : str
        A sentence on it.
    """

    cell: int
    kind: str
    text: str

    def __str__(self) -> str:
        """Say which cell it is, and what is doubtful about it."""
        return f"cell {self.cell} {self.text}"


def find_doubts(
    radii: NDArray[np.float64], crops: tuple[Crop, ...], nuclei: tuple[Crop, ...] | None
) -> tuple[CellWarning, ...]:
    """Look at all cells of a result.

    Parameters
    ----------
    radii : (N, K)
    crops : tuple of Crop
        Pixels of every cell.
    nuclei : tuple of Crop, optional
        Pixels of every nucleus; None where nuclei are not known.

    Returns
    -------
    tuple of CellWarning
        In the order of the cells.
    """
    found = [*_find_twins(crops), *_find_spikes(radii)]
    if nuclei is not None:
        found += _look_at_nuclei(radii, nuclei)
    return tuple(sorted(found, key=lambda warning: (warning.cell, warning.kind)))


def _find_twins(crops: tuple[Crop, ...]) -> list[CellWarning]:
    """Pairs of cells with nearly the same outline, as a cell has that was found twice or has two nuclei."""
    found = []
    boxes = np.array([(crop.top, crop.left, *crop.mask.shape, crop.area) for crop in crops]).reshape(-1, 5)
    order = np.argsort(boxes[:, 0], kind="stable")
    tops = boxes[order, 0]
    for place, one in enumerate(order):
        height, width, area = boxes[one, 2:]
        # Twins begin nearly in the same row.
        last = np.searchsorted(tops, tops[place] + (1 - TWINS) * height, side="right")
        others = order[place + 1 : last]
        limits = (1 / TWINS - 1) * np.array([width, height, width, area])
        alike = (np.abs(boxes[others] - boxes[one])[:, 1:] <= limits).all(axis=1)
        for other in others[alike]:
            shared = crops[one].count_shared(crops[other])
            if area and shared >= TWINS * (area + boxes[other, 4] - shared):
                found += [
                    CellWarning(mine + 1, "twin", f"has nearly the outline of cell {twin + 1}: it may be the same cell")
                    for mine, twin in ((int(one), int(other)), (int(other), int(one)))
                ]
    return found


def _find_spikes(radii: NDArray[np.float64]) -> list[CellWarning]:
    """Outlines that run out into a narrow spike, as along bacteria or a fold."""
    width = 2 * round(SPIKE_WINDOW * radii.shape[1] / 2) + 1
    if not len(radii) or width < 3:
        return []
    beside = ndimage.median_filter(radii, (1, width), mode="wrap")
    excess = np.max(radii / np.maximum(beside, 1), axis=1)
    return [
        CellWarning(int(index) + 1, "spike", "runs out into a narrow spike: its outline may follow debris or a fold")
        for index in np.flatnonzero(excess > SPIKE)
    ]


def _look_at_nuclei(radii: NDArray[np.float64], nuclei: tuple[Crop, ...]) -> list[CellWarning]:
    found = []
    for index, crop in enumerate(nuclei):
        if not crop.area:
            if radii[index].any():
                found.append(CellWarning(index + 1, "no nucleus", "has no nucleus that was found: it may be none"))
            continue
        pieces, count = ndimage.label(crop.mask, structure=np.ones((3, 3)))
        areas = np.sort(np.bincount(pieces.ravel(), minlength=count + 1)[1:])
        if count > 1 and areas[-2] >= SECOND_NUCLEUS * crop.area:
            found.append(CellWarning(index + 1, "binucleate", "has two nuclei: it may be two cells"))
    return found
