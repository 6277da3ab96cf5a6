from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from declump.io import read_pixel_size

GREY = np.zeros((8, 9), np.uint8)


def ome(size: float, unit: str = "µm", height: float | None = None) -> dict[str, Any]:
    sides = {"PhysicalSizeX": size, "PhysicalSizeY": size if height is None else height}
    return {"metadata": {"axes": "YX", **sides, "PhysicalSizeXUnit": unit, "PhysicalSizeYUnit": unit}}


@pytest.mark.parametrize(
    ("name", "how", "expected"),
    [
        ("a.ome.tif", ome(0.25), (0.25, "OME metadata")),
        ("a.ome.tif", ome(250, "nm"), (0.25, "OME metadata")),
        ("a.ome.tif", ome(0.25, "pixel"), None),
        ("a.ome.tif", ome(0.25, height=0.5), None),
        ("a.ome.tif", {"metadata": {"axes": "YX"}}, None),
        ("a.tif", {"resolution": (40000, 40000), "resolutionunit": "CENTIMETER"}, (0.25, "TIFF resolution")),
        ("a.tif", {"resolution": (72, 72), "resolutionunit": "INCH"}, None),
        ("a.tif", {"resolution": (4, 4), "resolutionunit": "NONE"}, None),
        ("a.tif", {"imagej": True, "resolution": (4, 4), "metadata": {"unit": "um"}}, (0.25, "ImageJ metadata")),
        ("a.tif", {"imagej": True, "resolution": (4, 4), "metadata": {"unit": "inch"}}, None),
        ("a.tif", {}, None),
    ],
)
def test_sizes(name: str, how: dict[str, Any], expected: tuple[float, str] | None, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / name, GREY, **how)
    assert read_pixel_size(tmp_path / name) == expected


def test_other_files_do_not_tell(tmp_path: Path) -> None:
    Image.fromarray(GREY).save(tmp_path / "a.png", dpi=(101600, 101600))
    (tmp_path / "bad.tif").write_bytes(b"II*\0" + bytes(9))
    for name in ("a.png", "bad.tif", "none.tif"):
        assert read_pixel_size(tmp_path / name) is None
