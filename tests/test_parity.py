"""The same pixels give the same cells, to the byte, whatever asks for them, whatever the file, tiles and workers."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from declump.simulate import smear

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
parity = pytest.importorskip("parity", reason="the benchmarks are not beside the tests")


@cache
def picture(name: str) -> NDArray[Any]:
    if name == "empty":
        return np.full((150, 160), 200, np.uint8)
    if name == "one cell":
        return smear((200, 220), cells=1, debris=0, rng=2).image
    if name == "enlarged":
        return smear((420, 460), cells=5, radius=70, clumps=2, overlap=0.4, rng=5).image
    return smear((400, 460), cells=9, clumps=3, overlap=0.5, stain="pap" if name == "colour" else "grey", rng=3).image


@cache
def known(name: str) -> Any:
    return parity.segment_in_memory(picture(name))


def check(one: Any, two: Any) -> None:
    assert parity.share_alike(one, two) == 1, (
        parity.share_alike(one, two, outlines_only=True),
        one.find_different(two),
    )


@pytest.mark.parametrize("name", ["grey", "colour", "enlarged", "one cell", "empty"])
def test_a_slide_has_the_cells_of_the_image(name: str, tmp_path: Path) -> None:
    files = parity.write_files(picture(name), tmp_path)
    assert len(known(name).seeds) == {"empty": 0, "one cell": 1}.get(name, len(known(name).seeds) or -1)
    check(known(name), parity.segment_as_slide(files["flat.tif"], tmp_path / "out", 320, 0))


@pytest.mark.parametrize(("file", "tile"), [("pyramid.tif", 1024), ("image.zarr", 512)])
def test_formats_and_tiles_change_nothing(file: str, tile: int, tmp_path: Path) -> None:
    files = parity.write_files(picture("grey"), tmp_path)
    check(known("grey"), parity.segment_as_slide(files[file], tmp_path / "out", tile, 0))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_processes_change_nothing(workers: int, tmp_path: Path) -> None:
    files = parity.write_files(picture("colour"), tmp_path)
    check(known("colour"), parity.segment_as_slide(files["pyramid.tif"], tmp_path / "out", 320, workers))


@pytest.mark.parametrize("edit", [False, True])
def test_a_review_saves_the_cells_of_the_image(edit: bool, tmp_path: Path) -> None:
    files = parity.write_files(picture("grey"), tmp_path)
    check(known("grey").printed(), parity.review_image(files["flat.tif"], tmp_path / "out", edit=edit))
