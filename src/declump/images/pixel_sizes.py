"""How large a pixel is, as far as an image file tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from declump.images.decoding import find_format, open_tiff

PLAUSIBLE = (0.02, 3.5)
"""Pixels of a micrograph in micrometres; the dots per inch that most programs write by habit lie far outside."""
SQUARE = 0.01
"""Sides of a pixel that differ by a larger share make it no square."""
_MICROMETRES = {"nm": 1e-3, "µm": 1.0, "μm": 1.0, "um": 1.0, "micron": 1.0, "\\u00B5m": 1.0, "mm": 1e3, "cm": 1e4}
"""Units as OME and ImageJ write them; the micro sign exists twice, and ImageJ escapes it."""
_RESOLUTION_UNITS = {2: 25400.0, 3: 10000.0}
"""Inch and centimetre, as TIFF numbers them, in micrometres."""


def read_pixel_size(path: str | Path) -> tuple[float, str] | None:
    """Read the size of a pixel from the metadata of an image.

    Parameters
    ----------
    path : str or Path
        An OME-TIFF, a TIFF of ImageJ, or one with a resolution; other files do not tell.

    Returns
    -------
    micrometres : float
    origin : str
        Where it stands: "OME metadata", "ImageJ metadata" or "TIFF resolution".
    None
        If the file does not tell, tells what no micrograph can have, or its pixels are not square.
    """
    path = Path(path)
    try:
        if find_format(path) != "TIFF":
            return None
        with open_tiff(path) as file:
            told = _read_size(file)
    except Exception:  # a file that cannot be read is reported when its pixels are
        return None
    if told is None:
        return None
    width, height, origin = told
    plausible = all(PLAUSIBLE[0] <= side <= PLAUSIBLE[1] for side in (width, height))
    return (round(width, 9), origin) if plausible and abs(width - height) <= SQUARE * width else None


def _read_size(file: Any) -> tuple[float, float, str] | None:
    if file.is_ome:
        elements = filter(_is_pixels, ElementTree.fromstring(file.ome_metadata).iter())
        sizes = {_read_ome_size(pixels) for pixels in elements}
        known = sizes.pop() if len(sizes) == 1 else None
        return None if known is None else (*known, "OME metadata")
    if file.is_imagej:
        unit, origin = _MICROMETRES.get(str((file.imagej_metadata or {}).get("unit", ""))), "ImageJ metadata"
    else:
        unit, origin = _RESOLUTION_UNITS.get(int(file.pages[0].resolutionunit)), "TIFF resolution"
    across, down = file.pages[0].get_resolution()
    return (unit / across, unit / down, origin) if unit and across and down else None


def _is_pixels(element: ElementTree.Element) -> bool:
    return element.tag.rpartition("}")[2] == "Pixels"


def _read_ome_size(pixels: ElementTree.Element) -> tuple[float, float] | None:
    """Width and height of a pixel in micrometres."""
    sides = []
    for axis in ("X", "Y"):
        size, unit = pixels.get(f"PhysicalSize{axis}"), pixels.get(f"PhysicalSize{axis}Unit", "µm")
        if size is None or unit not in _MICROMETRES:
            return None
        sides.append(float(size) * _MICROMETRES[unit])
    return sides[0], sides[1]
