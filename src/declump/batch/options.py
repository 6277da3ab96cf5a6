"""What a run does with every image, as it is kept in ``run.json``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from declump.io.formats import DEFAULT, FORMATS

ALIASES = {"tiff": ("planes", "flat"), "zarr": ("ome-zarr",), "png": ("overlay",)}
"""Other names of formats, as people call them."""
ALWAYS = "contours"
"""Holds everything, so that all else can be made from it later; written whatever is chosen."""


@dataclass(frozen=True)
class Options:
    """What changes the results.

    Attributes
    ----------
    regions, evidence, rays, prior, setting, pixel_size, diameter
        See :func:`declump.segment`. Without ``pixel_size`` that of an image's metadata is taken.
    least_nucleus, least_clump, largest_hole
        See :func:`declump.find_regions`; in square micrometres only if ``pixel_size`` is given.
    formats : tuple of str
        Names in ``declump.io.FORMATS``.
    """

    regions: str = "default"
    evidence: str | None = None
    rays: str = "default"
    prior: str = "default"
    setting: str = "joint"
    pixel_size: float | None = None
    diameter: float | None = None
    least_nucleus: float | None = None
    least_clump: float | None = None
    largest_hole: float | None = None
    formats: tuple[str, ...] = DEFAULT

    def record(self) -> dict[str, Any]:
        """Give all options as JSON has them."""
        return {**asdict(self), "formats": list(self.formats)}


def format_names(given: Iterable[str]) -> tuple[str, ...]:
    """Names of the formats that are meant, in the order of ``declump.io.FORMATS``.

    Parameters
    ----------
    given : iterable of str
        Names in ``declump.io.FORMATS`` or in ``ALIASES``.

    Raises
    ------
    ValueError
        If there is no such format.
    """
    chosen = {ALWAYS}
    for name in given:
        if name not in FORMATS and name not in ALIASES:
            raise ValueError(f"there is no format {name!r}; the formats are {', '.join([*FORMATS, *ALIASES])}")
        chosen.update(ALIASES.get(name, (name,)))
    return tuple(name for name in FORMATS if name in chosen)
