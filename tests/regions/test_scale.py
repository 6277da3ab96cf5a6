from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump import simulate
from declump.regions.channels import to_channels
from declump.regions.inference import open_region_model
from declump.regions.resizing import resize_channels
from declump.regions.scale import DOUBTED, LARGER, PIXELS, REFUTED, _trust, choose_part, find_scale, look

CHANNELS = to_channels(simulate.smear((420, 420), cells=12, clumps=3, overlap=0.4, stain="pap", rng=4).image)
"""Nuclei of about the usual size."""


@pytest.fixture(scope="module")
def model():
    return open_region_model("default")


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.3, 0.5, 1, 2, 3])
def test_the_scale_undoes_a_change_of_size(model, size: float) -> None:
    scale, _ = find_scale(resize_channels(CHANNELS, size), model)
    assert 1 / DOUBTED < scale * size < DOUBTED


def test_the_image_decides_not_the_first_guess(model) -> None:
    scales = [find_scale(CHANNELS, model, start)[0] for start in (0.4, 1.0, 2.5)]
    assert all(1 / DOUBTED < scale < DOUBTED for scale in scales)


@given(st.floats(0.2, 5), st.floats(1, 1.02))
def test_a_change_that_is_hardly_another_is_trusted_hardly_otherwise(change: float, slightly: float) -> None:
    taken, other = _trust(change), _trust(change * slightly)
    assert taken <= other <= taken * slightly**3
    assert abs(np.log(change) - np.log(taken)) <= np.log(DOUBTED) + 1e-9
    if max(change, 1 / change) < DOUBTED:
        assert taken == 1
    if max(change, 1 / change) >= REFUTED:
        assert taken == pytest.approx(LARGER * change)


def test_an_image_without_cells_leaves_the_guess(model) -> None:
    blank = np.random.default_rng(0).normal(1, 0.01, (3, 120, 130)).astype(np.float32)
    assert find_scale(blank, model, 1.7)[0] == 1.7


def test_maps_of_a_whole_image_are_those_of_the_scale_found(model) -> None:
    scale, maps = find_scale(CHANNELS, model)
    assert maps is not None
    np.testing.assert_array_equal(maps.classes, look(resize_channels(CHANNELS, scale), model).maps.classes)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 90), st.integers(1, 90), st.floats(5, 200))
def test_a_part_is_small_enough_and_within_the_image(height: int, width: int, scale: float) -> None:
    channels = np.random.default_rng(height).random((3, height, width)).astype(np.float32)
    part = choose_part(channels, scale)
    assert 0 < part.shape[1] <= height and 0 < part.shape[2] <= width
    assert part.shape == channels.shape or (part.shape[1] - 1) * (part.shape[2] - 1) * scale**2 <= PIXELS


def test_the_part_with_most_in_it_is_taken() -> None:
    channels = np.ones((3, 400, 500), np.float32)
    channels[0, 250:350, 300:420] = 0.5
    part = choose_part(channels, 7.0)
    assert (part[0] < 0.9).sum() == 100 * 120
