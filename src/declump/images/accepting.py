"""What people have an image in, as plain pixels: a file, or an array of NumPy, dask, zarr or xarray."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.images.reading import read_image

ImageLike = ArrayLike | os.PathLike[str]
"""Whatever :func:`to_pixels` takes."""
_PLACES = {
    **dict.fromkeys(("y", "row", "rows", "height"), 0),
    **dict.fromkeys(("x", "column", "columns", "col", "width"), 1),
    **dict.fromkeys(("c", "ch", "channel", "channels", "band", "rgb", "rgba", "s", "sample"), 2),
}
"""Where an axis stands, by the names that libraries give it."""


def to_pixels(image: ImageLike) -> NDArray[Any]:
    """Give the pixels of an image.

    Parameters
    ----------
    image : array, str or Path
        The path of a file (:func:`declump.io.read_image`), or whatever NumPy makes an array of: lists, arrays of dask
        (computed here) and zarr. A ``DataArray`` of xarray is laid out by the names of its axes, so that channels may
        come first; axes of another name and length 1 are dropped.

    Returns
    -------
    (H, W), (H, W, 3) or (H, W, 4)
        Not checked. A masked array stays one.
    """
    if isinstance(image, str | os.PathLike):
        return read_image(Path(image))
    dims = getattr(image, "dims", None)
    if isinstance(dims, tuple) and hasattr(image, "transpose"):
        return _lay_out(np.asarray(image), [str(name).lower() for name in dims])
    return np.asanyarray(image)


def _lay_out(pixels: NDArray[Any], names: list[str]) -> NDArray[Any]:
    """Put rows, columns and channels in this order, where the names of all axes longer than 1 are known."""
    kept = [axis for axis, name in enumerate(names) if name in _PLACES or pixels.shape[axis] != 1]
    places = [_PLACES[names[axis]] for axis in kept if names[axis] in _PLACES]
    if len(set(places)) != len(kept):
        return pixels
    dropped = tuple(axis for axis in range(pixels.ndim) if axis not in kept)
    return pixels.squeeze(dropped).transpose(np.argsort(places))
