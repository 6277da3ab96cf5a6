from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import declump
from declump.pictures import COLOURS
from declump_paper import pictures


@pytest.fixture(scope="module")
def mask() -> np.ndarray:
    rows, columns = np.mgrid[:120, :260]
    two = (np.hypot(rows - 60, columns - 60) < 40) | (np.hypot(rows - 60, columns - 105) < 40)
    return two | (np.hypot(rows - 60, columns - 210) < 35)


SEEDS = [(60, 60), (60, 105), (60, 210)]


@pytest.fixture(scope="module")
def growth(mask: np.ndarray) -> pictures.Growth:
    return pictures.record_growth(mask, SEEDS)


def test_growth_ends_where_the_evolution_does(mask: np.ndarray, growth: pictures.Growth) -> None:
    result = declump.evolve(mask, SEEDS)
    assert growth.clump.cells.tolist() == [0, 1]
    assert growth.history == result.clumps[0].history and len(growth) == len(growth.history) > 2
    assert np.array_equal(growth.radii[-1], result.radii[:2])
    assert pictures.record_growth(mask, SEEDS, clump=1).clump.cells.tolist() == [2]


def test_strip_shows_start_and_end(mask: np.ndarray, growth: pictures.Growth) -> None:
    one, three = (pictures.growth_strip(growth, count=count) for count in (1, 3))
    width = one.shape[1]
    assert three.shape == (one.shape[0], 3 * width + 2 * 8, 3)
    assert np.array_equal(three[:, -width:], one) and not np.array_equal(three[:, :width], one)
    assert pictures.growth_strip(growth, count=1000).shape[1] == len(growth) * (width + 8) - 8
    assert pictures.growth_strip(growth, count=4, columns=2).shape[0] > one.shape[0]
    over_image = pictures.growth_strip(growth, np.full((120, 260, 3), 90, np.uint8), count=1)
    assert over_image.shape == one.shape and (over_image == 90).any()


def test_a_cell_keeps_its_colour(growth: pictures.Growth) -> None:
    strip = pictures.growth_strip(growth, count=2)
    width = (strip.shape[1] - 8) // 2
    colours = [
        [colour for colour in COLOURS if (part == colour).all(axis=2).any()]
        for part in (strip[:, :width], strip[:, -width:])
    ]
    assert colours[0] == colours[1] and len(colours[0]) == 2


@pytest.mark.parametrize("ending", ["gif", "png", "apng"])
def test_animation(growth: pictures.Growth, tmp_path: Path, ending: str) -> None:
    path, again = tmp_path / f"growth.{ending}", tmp_path / f"again.{ending}"
    pictures.write_growth(growth, path, seconds=0.2)
    pictures.write_growth(growth, again, seconds=0.2)
    assert path.read_bytes() == again.read_bytes()
    with Image.open(path) as animation:
        assert 1 < animation.n_frames <= len(growth)
        assert animation.info.get("loop") == 0
        assert animation.info["duration"] >= 200


def test_what_is_refused(mask: np.ndarray, growth: pictures.Growth, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 clumps, counted from 0"):
        pictures.record_growth(mask, SEEDS, clump=2)
    for seeds, clump in ((np.zeros((0, 2)), None), (SEEDS[:2], 1)):
        with pytest.raises(ValueError, match="no seed lies in the clump"):
            pictures.record_growth(mask, seeds, clump=clump)
    with pytest.raises(ValueError, match="'joint' or 'paper'"):
        pictures.record_growth(mask, SEEDS, setting="other")
    with pytest.raises(ValueError, match="at least one moment"):
        pictures.growth_strip(growth, count=0)
    with pytest.raises(ValueError, match="found in one of"):
        pictures.growth_strip(growth, np.zeros((5, 5)))
    for name, seconds in (("growth.mp4", 1.0), ("growth.gif", 0.0)):
        with pytest.raises(ValueError, match=r"\.gif or \.png"):
            pictures.write_growth(growth, tmp_path / name, seconds=seconds)
