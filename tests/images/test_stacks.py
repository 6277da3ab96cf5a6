"""Focus stacks in files: which pages are one place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from declump.images.focus import fuse_stack
from declump.io import list_images, read_image, read_size, read_stack

RNG = np.random.default_rng(0)
STACK = RNG.integers(0, 256, (5, 12, 15), dtype=np.uint8)


def write(path: Path, pixels: np.ndarray, axes: str, kind: str) -> Path:
    tifffile.imwrite(path, pixels, metadata={"axes": axes}, photometric="minisblack", **{kind: True})
    return path


@pytest.mark.parametrize("kind", ["ome", "imagej"])
def test_planes_along_z_are_one_image_and_can_be_many(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / ("a.ome.tif" if kind == "ome" else "a.tif"), STACK, "ZYX", kind)
    assert list_images(path) == ["1-5"]
    assert list_images(path, stack="planes") == [1, 2, 3, 4, 5]
    assert np.array_equal(read_stack(path, page="1-5"), STACK)
    assert np.array_equal(read_image(path, page="1-5"), fuse_stack(STACK)[0])
    assert np.array_equal(read_image(path, page=3), STACK[2])
    assert read_size(path, page="1-5") == (12, 15)


@pytest.mark.parametrize("kind", ["ome", "imagej"])
def test_moments_are_stacks_of_their_own(kind: str, tmp_path: Path) -> None:
    both = RNG.integers(0, 256, (2, 3, 12, 15), dtype=np.uint8)
    path = write(tmp_path / ("a.ome.tif" if kind == "ome" else "a.tif"), both, "TZYX", kind)
    assert list_images(path) == ["1-3", "4-6"]
    assert np.array_equal(read_stack(path, page="4-6"), both[1])


def test_heights_may_come_before_moments(tmp_path: Path) -> None:
    both = RNG.integers(0, 256, (3, 2, 12, 15), dtype=np.uint8)
    path = write(tmp_path / "a.ome.tif", both, "ZTYX", "ome")
    assert list_images(path) == ["1-5:2", "2-6:2"]
    assert np.array_equal(read_stack(path, page="2-6:2"), both[:, 1])


def test_three_channels_are_colours_of_a_stack(tmp_path: Path) -> None:
    colours = RNG.integers(0, 256, (4, 3, 12, 15), dtype=np.uint8)
    path = write(tmp_path / "a.ome.tif", colours, "ZCYX", "ome")
    assert list_images(path) == ["1-4"]
    assert np.array_equal(read_stack(path, page="1-4"), np.moveaxis(colours, 1, -1))


def test_what_names_no_focus_is_no_stack(tmp_path: Path) -> None:
    moments = write(tmp_path / "t.ome.tif", STACK, "TYX", "ome")
    tifffile.imwrite(tmp_path / "plain.tif", STACK, photometric="minisblack", metadata=None)
    Image.fromarray(STACK[0]).save(tmp_path / "one.png")
    assert list_images(moments) == list_images(tmp_path / "plain.tif") == [1, 2, 3, 4, 5]
    assert list_images(tmp_path / "one.png") == [None]


@pytest.mark.parametrize("page", ["", "5", "0-3", "3-1", "1-3:0", "a-b", "1-99999999999", -1, 0])
def test_pages_that_cannot_be_are_refused(page: str | int, tmp_path: Path) -> None:
    path = write(tmp_path / "a.ome.tif", STACK, "ZYX", "ome")
    with pytest.raises(ValueError, match=r"a\.ome\.tif are counted from 1"):
        read_image(path, page=page)
    with pytest.raises(ValueError, match="5 pages"):
        read_image(path, page="1-9")
    with pytest.raises(ValueError, match="fuse or planes"):
        list_images(path, stack="both")
