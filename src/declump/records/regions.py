"""Regions: where there is any cell, and where the nuclei are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.records.clump import check_mask

LARGEST_TABLE = 1 << 20
"""Labels up to this are ranked by a table of them, larger ones by sorting."""


@dataclass(frozen=True, eq=False)
class Regions:
    """What is known of an image before its cells are told apart.

    Attributes
    ----------
    clump : (H, W) bool
        Where there is any cell, nuclei included.
    nuclei : (H, W) int32
        Number of the nucleus from 1 at each of its pixels, 0 elsewhere. A plain mask is accepted, too: its connected
        pieces (8-neighbours) are then the nuclei. Numbers are made consecutive.
    seeds : (N, 2) float64
        Row and column of a point in each nucleus, in the order of the numbers: its centroid, or where that lies outside
        it, the nearest pixel of the nucleus.
    layers : (H, W) float32, optional
        Expected number of cells at each pixel, 3 standing for 3 or more; None where unknown.
    candidates : (H, W) int32, optional
        Spots that are too doubtful for nuclei by themselves, numbered from 1; a ray network may bear them out, see
        :func:`declump.pipelines.decide.confirm`. They overlap no nucleus.
    nucleus_probability : (N,) float64, optional
        Probability of each nucleus to be the nucleus of a cell, by a judge; None where none looked at them.
    candidate_probability : (C,) float64, optional
        The same of the candidates, which are then all other spots, also those that hardly look like nuclei.
    diameter : float, optional
        Usual diameter of a nucleus in pixels: the scale at which the image is looked at; None where unknown.
    """

    clump: NDArray[np.bool_]
    nuclei: NDArray[np.int32]
    layers: NDArray[np.float32] | None = None
    candidates: NDArray[np.int32] | None = None
    nucleus_probability: NDArray[np.float64] | None = None
    candidate_probability: NDArray[np.float64] | None = None
    diameter: float | None = None
    seeds: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        """Check that the arrays belong together, number the nuclei and find their seeds."""
        clump = check_mask(self.clump)
        nuclei = number_nuclei(self.nuclei)
        candidates = None if self.candidates is None else number_nuclei(self.candidates)
        given = {"nuclei": nuclei, "layers": self.layers, "candidates": candidates}
        for name, array in given.items():
            if array is not None and np.shape(array) != clump.shape:
                raise ValueError(
                    f"clump and {name} are of one image; given were shapes {clump.shape} and {np.shape(array)}"
                )
        object.__setattr__(self, "clump", clump)
        object.__setattr__(self, "nuclei", nuclei)
        object.__setattr__(self, "candidates", candidates)
        object.__setattr__(self, "seeds", seeds_from_labels(nuclei))
        count = 0 if candidates is None else int(candidates.max(initial=0))
        for name, expected in (("nucleus_probability", len(self.seeds)), ("candidate_probability", count)):
            given = getattr(self, name)
            if given is not None and np.shape(given) != (expected,):
                raise ValueError(f"{name} has one value each, here {expected}; given was an array {np.shape(given)}")


def number_nuclei(nuclei: ArrayLike) -> NDArray[np.int32]:
    """Number nuclei from 1: the connected pieces of a mask, or the labels of a label image in rising order."""
    array = np.asarray(nuclei)
    if array.ndim != 2:
        raise ValueError(f"nuclei are an (H, W) label image or mask; given was an array of shape {array.shape}")
    if array.dtype == np.bool_:
        from scipy import ndimage

        return np.asarray(ndimage.label(array, structure=np.ones((3, 3)))[0], dtype=np.int32)
    if array.dtype.kind not in "iu" or (array.size and array.min() < 0):
        raise ValueError(f"labels of nuclei are integers >= 0, a mask of nuclei is bool; given was {array.dtype}")
    places = np.flatnonzero(array)  # few of a large image
    numbered = np.zeros(array.size, dtype=np.int32)
    numbered[places] = _rank(array.ravel()[places])[1] + 1
    return numbered.reshape(array.shape)


def seeds_from_labels(labels: ArrayLike) -> NDArray[np.float64]:
    """Find a point in every nucleus.

    Parameters
    ----------
    labels : (H, W) int
        0 is background.

    Returns
    -------
    (N, 2) float64
        Row and column of the centroid of each label, in rising order of the labels; where the pixel at the centroid
        belongs to another label or to none, the pixel of the label that is nearest to it.

    Examples
    --------
    >>> import numpy as np
    >>> seeds_from_labels(np.array([[1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 5]])).tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    labels = np.asarray(labels)
    if labels.ndim != 2 or labels.dtype.kind not in "biu":
        raise ValueError(f"labels are an (H, W) array of integers; given was {labels.dtype} of shape {labels.shape}")
    places = np.flatnonzero(labels > 0)
    rows, columns = np.divmod(places, labels.shape[1])
    names, member = _rank(labels.ravel()[places])
    count = np.bincount(member, minlength=names.size)
    seeds = np.column_stack([np.bincount(member, part, names.size) / count for part in (rows, columns)])
    pixels = np.floor(seeds + 0.5).astype(np.int64)
    for index in np.flatnonzero(labels[pixels[:, 0], pixels[:, 1]] != names):
        own = np.column_stack([rows[member == index], columns[member == index]])
        seeds[index] = own[((own - seeds[index]) ** 2).sum(axis=1).argmin()]
    return seeds


def _rank(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Give the different labels in rising order, and which of them each of the labels (P,), integers >= 0, is."""
    if labels.dtype == np.bool_ or not labels.size or labels.max() > LARGEST_TABLE:
        names, ranks = np.unique(labels, return_inverse=True)
        return names, ranks
    present = np.bincount(labels.astype(np.int64)) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[labels]
