"""Focus stacks on the command line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image
from scipy import ndimage

from declump import fuse_stack, simulate

Here = Callable[..., tuple[int, str, str]]
OPTIONS = ("--evidence", "clump", "--format", "csv", "--jobs", "1")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A smear whose left half is sharp in the first plane, and the right half in the third."""
    folder = tmp_path_factory.mktemp("stack")
    sharp = simulate.smear((160, 240), cells=5, radius=26, stain="grey", rng=4).image.astype(float)
    near, far = ndimage.gaussian_filter(sharp, 2), ndimage.gaussian_filter(sharp, 4)
    left = np.arange(240) < 120
    planes = [np.where(left, sharp, far), near, np.where(left, far, sharp)]
    pixels = np.clip(np.rint(planes), 0, 255).astype(np.uint8)
    tifffile.imwrite(folder / "stack.ome.tif", pixels, ome=True, metadata={"axes": "ZYX"}, photometric="minisblack")
    (folder / "planes").mkdir()
    for number, plane in enumerate(pixels):
        Image.fromarray(plane).save(folder / "planes" / f"z{number}.png")
    return folder


def test_a_stack_is_one_image_and_its_cells_know_their_plane(stack: Path, here: Here) -> None:
    code, _, error = here("segment", stack / "stack.ome.tif", "-o", stack / "fused", *OPTIONS)
    assert code == 0, error
    (image,) = json.loads((stack / "fused" / "run.json").read_text())["images"]
    assert (image["page"], image["name"]) == ("1-3", "stack")
    with (stack / "fused" / "stack" / "cells.csv").open() as file:
        cells = list(csv.DictReader(file))
    assert cells
    for cell in cells:
        if abs(float(cell["centroid_column_px"]) - 120) > 40:
            assert cell["focus_plane"] == ("1" if float(cell["centroid_column_px"]) < 120 else "3")
    assert here("segment", stack / "stack.ome.tif", "-o", stack / "fused", *OPTIONS, "--resume")[0] == 0
    assert here("report", stack / "fused")[0] == 0


def test_every_plane_is_an_image_if_asked_for(stack: Path, here: Here) -> None:
    assert here("segment", stack / "stack.ome.tif", "-o", stack / "each", *OPTIONS, "--stack", "planes")[0] == 0
    images = json.loads((stack / "each" / "run.json").read_text())["images"]
    assert [image["page"] for image in images] == [1, 2, 3]
    code, _, error = here("segment", stack / "stack.ome.tif", "-o", stack / "each", *OPTIONS, "--resume")
    assert code == 1 and "stack was 'planes', now 'fuse'" in error


def test_planes_in_files_are_fused_by_a_command(stack: Path, here: Here) -> None:
    sharp, chosen = stack / "sharp.png", stack / "chosen.tif"
    code, said, error = here("fuse", stack / "planes", "-o", sharp, "--planes", chosen)
    assert code == 0, error
    assert "3 planes of 160 x 240 pixels" in said
    image, plane = fuse_stack(tifffile.imread(stack / "stack.ome.tif"))
    assert np.array_equal(np.array(Image.open(sharp)), image)
    assert np.array_equal(tifffile.imread(chosen), plane + 1)
    code, _, error = here("fuse", stack / "planes", "-o", sharp)
    assert code == 1 and "exists" in error


def test_what_cannot_be_fused_is_refused_and_nothing_is_written(stack: Path, here: Here, tmp_path: Path) -> None:
    Image.fromarray(np.zeros((5, 5), np.uint8)).save(tmp_path / "other.png")
    out = tmp_path / "sharp.png"
    code, _, error = here("fuse", stack / "planes" / "z0.png", tmp_path / "other.png", "-o", out)
    assert code == 1 and "one size" in error and not out.exists()
    assert here("fuse", stack / "planes", "-o", tmp_path / "sharp.gif")[0] == 1
    tifffile.imwrite(tmp_path / "float.tif", np.zeros((2, 5, 5), np.float32), photometric="minisblack")
    code, _, error = here("fuse", tmp_path / "float.tif", "-o", out)
    assert code == 1 and "name the image .tif" in error and not list(tmp_path.glob(".declump*"))
