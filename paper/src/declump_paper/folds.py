"""Which images train and which test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def folds(
    n_images: int,
    *,
    n_folds: int = 5,
    rng: int | np.random.Generator = 0,
    train: Literal["one", "rest"] = "one",
    groups: Sequence[int] | None = None,
) -> list[Fold]:
    """Split images into folds; cells of an image always stay together.

    Parameters
    ----------
    n_images : int
        Number of images.
    n_folds : int
        Number of parts of nearly equal size.
    rng : int or numpy Generator
        Seed of the shuffle: the same seed gives the same folds.
    train : {"one", "rest"}
        ``"one"``: the paper's protocol, each part trains in turn and all others test, so that every image is tested
        ``n_folds - 1`` times. ``"rest"``: conventional cross-validation, each part is tested once by what the others
        taught.
    groups : sequence of n_images int, optional
        Images with the same number stay in the same part: those that show the same cells must not both train and test.

    Returns
    -------
    list of n_folds (train, test)
        Sorted image indices, intp arrays.

    Raises
    ------
    ValueError
        If there are fewer images (or groups) than folds, fewer than two folds, groups for another number of images, or
        `train` is unknown.

    Examples
    --------
    >>> [(len(train), len(test)) for train, test in folds(8)]
    [(2, 6), (2, 6), (2, 6), (1, 7), (1, 7)]
    """
    if groups is not None and len(groups) != n_images:
        raise ValueError(f"groups must hold one number an image, got {len(groups)} for {n_images} images.")
    names, membership = np.unique(np.arange(n_images) if groups is None else np.asarray(groups), return_inverse=True)
    if not 2 <= n_folds <= len(names):
        raise ValueError(
            f"n_folds must be from 2 to the number of images (or groups of them), got {n_folds} folds of "
            f"{n_images} images in {len(names)} groups; use fewer folds or more images."
        )
    if train not in ("one", "rest"):
        raise ValueError(f"Unknown train {train!r}; choose 'one' (train on one part) or 'rest' (train on all others).")
    order = np.random.default_rng(rng).permutation(len(names))
    split = []
    for part in np.array_split(order, n_folds):
        inside = np.isin(membership, part)
        one, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
        split.append((one, rest) if train == "one" else (rest, one))
    return split
