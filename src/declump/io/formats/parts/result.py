"""What is written: a segmentation, and what goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.segmentation import Segmentation

DECIMALS = 3
"""Seeds and radii are rounded to a thousandth of a pixel, in every file alike."""
RADIUS_DECIMALS = 4
"""Of radii: sixteenths of a pixel are exact."""


@dataclass(frozen=True, eq=False)
class Result:
    """What every format is given to write.

    Attributes
    ----------
    segmentation : Segmentation
        Its seeds are rounded to ``DECIMALS``, its radii to ``RADIUS_DECIMALS``.
    image : (H, W) or (H, W, 3), optional
        The picture that was segmented.
    measurements : mapping of str to sequence, optional
        Columns of a table with one value a cell, in the order of the cells; None and NaN stand for what is missing.
    others : bool
        Whether pictures show what is no nucleus, too.
    numbers : bool
        Whether pictures show the numbers of the cells.
    picture : str
        Name of the file of the picture.
    """

    segmentation: Segmentation
    image: NDArray[Any] | None = None
    measurements: Mapping[str, Sequence[Any] | NDArray[Any]] | None = None
    others: bool = False
    numbers: bool = False
    picture: str = "image.png"

    def __post_init__(self) -> None:
        """Round, and refuse what does not belong to the segmentation."""
        given = self.segmentation
        rounded = replace(given, seeds=given.seeds.round(DECIMALS), radii=given.radii.round(RADIUS_DECIMALS))
        object.__setattr__(self, "segmentation", rounded)
        nuclei = np.zeros(1, np.int32) if given.nuclei is None or not given.nuclei.size else given.nuclei
        lowest, highest = int(nuclei.min()), int(nuclei.max())
        if not 0 <= lowest <= highest <= len(given):
            raise ValueError(
                f"the nuclei are numbered from {lowest} to {highest}, but there are {len(given)} cells; "
                "number each nucleus as its cell, from 1, and the background 0"
            )
        if self.image is not None and np.shape(self.image)[:2] != given.shape:
            height, width = (*np.shape(self.image), 0, 0)[:2]
            raise ValueError(
                f"the image is {height} x {width} pixels, the segmentation {given.shape[0]} x {given.shape[1]}; "
                "give the image that was segmented"
            )
        for name, values in (self.measurements or {}).items():
            if np.ndim(values) != 1 or len(values) != len(given):
                raise ValueError(
                    f"the measurements hold an array of shape {np.shape(values)} as {name!r}; give one value for each "
                    f"of the {len(given)} cells"
                )
