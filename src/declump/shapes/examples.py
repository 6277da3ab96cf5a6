"""Shape examples: the radii of whole cells, which shape statistics are learnt from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.shapes.contours import outermost_crossings


@dataclass(frozen=True)
class ShapeExamples:
    """Radii measured on whole masks; reads as an array of shape (N, K).

    Attributes
    ----------
    radii : (N, K) float64
        Pixels, free of NaN.
    cut : (N,) bool
        True for an example whose mask touches the image border; such shapes are kept out of shape statistics.
    """

    radii: NDArray[np.float64]
    cut: NDArray[np.bool_]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Give the radii, so that NumPy functions take the examples as they are."""
        return np.array(self.radii, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self.radii)

    def __getitem__(self, key: Any) -> Any:
        """Index the radii."""
        return self.radii[key]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples and number of rays."""
        return self.radii.shape[0], self.radii.shape[1]

    @property
    def whole(self) -> NDArray[np.float64]:
        """Radii of the examples that the image border does not cut, (M, K)."""
        return self.radii[~self.cut]


def shape_examples(masks: ArrayLike, seeds: ArrayLike, *, rays: int = 360) -> ShapeExamples:
    """Measure the radii of whole cells.

    Parameters
    ----------
    masks : (N, H, W) bool
        One whole mask a cell; masks may overlap.
    seeds : (N, 2) float
        Row and column of a point in each cell, usually the centroid of its nucleus.
    rays : int
        Number of radii K, at least 16.

    Returns
    -------
    ShapeExamples
        An (N, K) array-like, with ``cut`` telling the cells that the image border cuts.

    Examples
    --------
    >>> import numpy as np
    >>> rows, columns = np.mgrid[:64, :64]
    >>> disc = np.hypot(rows - 30, columns - 32) <= 20
    >>> examples = shape_examples([disc], [(30, 32)], rays=36)
    >>> examples.shape, bool(np.allclose(examples, 20, atol=0.8)), bool(examples.cut[0])
    ((1, 36), True, False)
    """
    masks, seeds = np.asarray(masks), np.asarray(seeds, dtype=np.float64)
    if masks.ndim != 3 or seeds.shape != (len(masks), 2):
        raise ValueError(
            f"masks are (N, H, W) and seeds (N, 2), one seed a mask; given were {masks.shape} and {seeds.shape}"
        )
    radii, cut = np.zeros((len(masks), rays)), np.zeros(len(masks), dtype=np.bool_)
    for index, (mask, seed) in enumerate(zip(masks, seeds, strict=True)):
        radii[index], cut_rays = outermost_crossings(mask, seed, rays)
        if not radii[index].any():
            raise ValueError(f"no ray from seed {index} at {tuple(seed.tolist())} meets its mask: is the mask empty?")
        cut[index] = bool(cut_rays.any())
    return ShapeExamples(radii, cut)
