"""Slides of all kinds give the pixels that are in them, or one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile

from declump.records.boxes import Box
from declump.slides import open_slide

PIXELS = np.random.default_rng(0).integers(0, 255, (300, 400, 3), dtype=np.uint8)
BOX = Box(100, 37, 250, 399)


def write_pyramid(path: Path, **options: object) -> Path:
    with tifffile.TiffWriter(path, bigtiff=True) as file:
        file.write(PIXELS, tile=(64, 64), photometric="rgb", subifds=1, resolution=(20000, 20000), resolutionunit=3,
                   **options)  # fmt: skip
        file.write(PIXELS[::2, ::2], tile=(64, 64), photometric="rgb", subfiletype=1)
    return path


def write_zarr(path: Path) -> Path:
    import zarr

    group = zarr.open_group(path, mode="w", zarr_format=2)
    for level in (0, 1):
        group.create_array(str(level), data=np.moveaxis(PIXELS, -1, 0)[:, :: 2**level, :: 2**level], chunks=(1, 64, 64))
    axes = [{"name": "c"}, {"name": "y", "unit": "micrometer"}, {"name": "x", "unit": "micrometer"}]
    scales = [{"type": "scale", "scale": [1, 0.25, 0.25]}], [{"type": "scale", "scale": [1, 0.5, 0.5]}]
    datasets = [{"path": str(i), "coordinateTransformations": scale} for i, scale in enumerate(scales)]
    group.attrs["multiscales"] = [{"version": "0.4", "axes": axes, "datasets": datasets}]
    return path


def test_a_tiff_pyramid_is_read_by_levels(tmp_path: Path) -> None:
    path = write_pyramid(tmp_path / "slide.tif")
    slide, half = open_slide(path), open_slide(path, 1)
    np.testing.assert_array_equal(slide.read(BOX), PIXELS[BOX.slices])
    np.testing.assert_array_equal(half.read(Box(5, 6, 70, 80)), PIXELS[::2, ::2][5:70, 6:80])
    assert slide.pixel_size == (0.5, "TIFF resolution") and half.pixel_size == (1.0, "TIFF resolution")
    assert slide.shape == (300, 400) and slide.read_overview().shape == (300, 400, 3)


def test_an_ome_tiff_with_planes_of_colour_is_read(tmp_path: Path) -> None:
    path = tmp_path / "slide.ome.tif"
    metadata = {"axes": "CYX", "PhysicalSizeX": 0.3, "PhysicalSizeY": 0.3}
    tifffile.imwrite(path, np.moveaxis(PIXELS, -1, 0), photometric="minisblack", metadata=metadata, tile=(64, 64))
    np.testing.assert_array_equal(open_slide(path).read(BOX), PIXELS[BOX.slices])
    assert open_slide(path).pixel_size == (0.3, "OME metadata")


def test_an_ome_zarr_is_read(tmp_path: Path) -> None:
    path = write_zarr(tmp_path / "slide.zarr")
    np.testing.assert_array_equal(open_slide(path).read(BOX), PIXELS[BOX.slices])
    assert open_slide(path).pixel_size == (0.25, "OME metadata") and open_slide(path, 1).shape == (150, 200)


def test_a_plain_image_is_read(tmp_path: Path) -> None:
    import imageio.v3 as iio

    iio.imwrite(tmp_path / "slide.png", PIXELS)
    slide = open_slide(tmp_path / "slide.png")
    np.testing.assert_array_equal(slide.read(BOX), PIXELS[BOX.slices])
    assert slide.pixel_size is None


def test_sixteen_bits_and_a_plane_of_opacity_are_read(tmp_path: Path) -> None:
    import imageio.v3 as iio

    deep = PIXELS.astype(np.uint16) * 257
    tifffile.imwrite(tmp_path / "deep.tif", deep, photometric="rgb")
    np.testing.assert_array_equal(open_slide(tmp_path / "deep.tif").read(BOX), deep[BOX.slices])
    iio.imwrite(tmp_path / "clear.png", np.dstack([PIXELS, np.full(PIXELS.shape[:2], 255, np.uint8)]))
    np.testing.assert_array_equal(open_slide(tmp_path / "clear.png").read(BOX), PIXELS[BOX.slices])


def test_what_is_wrong_with_a_slide_is_said_in_one_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(FileNotFoundError, match="there is no slide at"):
        open_slide(tmp_path / "missing.svs")
    with pytest.raises(ValueError, match="has levels 0 to 1, and none of number 4"):
        open_slide(write_pyramid(tmp_path / "slide.tif"), 4)
    with pytest.raises(ValueError, match="no OME-Zarr"):
        open_slide(tmp_path)
    (tmp_path / "broken.tif").write_bytes((tmp_path / "slide.tif").read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"broken\.tif"):
        open_slide(tmp_path / "broken.tif").read(BOX)
    assert not caplog.records  # tifffile prints nothing of its own
    (tmp_path / "words.svs").write_text("no slide")
    with pytest.raises(ValueError, match=r"words\.svs"):
        open_slide(tmp_path / "words.svs")
