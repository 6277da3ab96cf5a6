"""Evidence beside the clump: proposals of whole outlines, and the number of layers, each with its doubt."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from declump.shapes import contours

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of cells apart from their clump; whatever is None says nothing.

    Attributes
    ----------
    radii : (N, K), optional
        Proposed radii of every cell in pixels, one row a seed.
    radii_std : (N, K), optional
        Their standard deviations in pixels, more than 0; infinite where nothing is known.
    layers : (H, W), optional
        Expected number of cells at each pixel.
    layers_std : (H, W), optional
        Its standard deviation.
    """

    radii: Floats | None = None
    radii_std: Floats | None = None
    layers: Floats | None = None
    layers_std: Floats | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        for field in fields(self):
            given = getattr(self, field.name)
            if given is not None:
                object.__setattr__(self, field.name, np.ascontiguousarray(given, dtype=np.float64))
        for name, values, std in (
            ("radii", self.radii, self.radii_std),
            ("layers", self.layers, self.layers_std),
        ):
            if (values is None) != (std is None):
                raise ValueError(f"{name} and {name}_doubt are given together, or neither")
            if values is None or std is None:
                continue
            if values.ndim != 2 or values.shape != std.shape:
                raise ValueError(
                    f"{name} and {name}_doubt are two-dimensional and of one shape; given were {values.shape} and "
                    f"{std.shape}"
                )
            if not np.isfinite(values).all() or (values < 0).any() or not (std >= 0).all():
                raise ValueError(f"{name} are finite and not negative, {name}_doubt is at least 0; these are not")
        if self.radii_std is not None and not (self.radii_std > 0).all():
            raise ValueError("radii_std is more than 0 everywhere: no outline is known exactly")

    def check(self, cells: int, shape: tuple[int, ...]) -> None:
        """Refuse to be evidence of another number of cells, or of an image of another shape."""
        if self.radii is not None and len(self.radii) != cells:
            raise ValueError(
                f"evidence has one row of radii a seed, in the order of the seeds; given were {len(self.radii)} rows "
                f"for {cells} seeds: a cell of which nothing is known has infinite doubt"
            )
        if self.layers is not None and self.layers.shape != shape:
            raise ValueError(
                f"layers have the shape of the clump mask, {tuple(shape)}; given were {self.layers.shape}: resize them"
            )

    def with_rays(self, rays: int) -> Evidence:
        """Give the same evidence with another number of rays."""
        if self.radii is None or self.radii_std is None or self.radii.shape[1] == rays:
            return self
        return replace(
            self, radii=contours.resample(self.radii, rays), radii_std=contours.resample(self.radii_std, rays)
        )

    def with_unknown(self, count: int) -> Evidence:
        """Give the same evidence with that many more cells at the end, of which nothing is known."""
        if self.radii is None or self.radii_std is None:
            return self
        rows = np.ones((count, self.radii.shape[1]))
        return replace(self, radii=np.vstack([self.radii, rows]), radii_std=np.vstack([self.radii_std, np.inf * rows]))

    def strided(self, stride: int) -> Evidence:
        """Give the same evidence of an image of which every n-th pixel is kept, from the middle of the first n on."""
        kept = np.s_[stride // 2 :: stride, stride // 2 :: stride]
        outlines = [None if part is None else part / stride for part in (self.radii, self.radii_std)]
        layers = [None if part is None else part[kept] for part in (self.layers, self.layers_std)]
        return Evidence(*outlines, *layers)
