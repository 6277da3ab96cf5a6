"""Windows on the lattice are seen as the whole image is, to the byte."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.models import REACH_ENTRY
from declump.regions.inference import open_region_model
from declump.regions.lattice import Lattice, find_receptive_field, resize_by_ratio


@given(st.floats(1 / 6, 6), st.sampled_from([16, 32]))
def test_scales_are_met_by_whole_numbers(scale: float, stride: int) -> None:
    lattice = Lattice.from_scale(scale, stride)
    assert abs(lattice.scale / scale - 1) < 0.052 and lattice.steps % stride == 0


@given(st.sampled_from([(16, 29), (16, 12), (32, 15), (48, 7)]), st.integers(0, 3), st.integers(0, 3))
def test_a_window_is_resized_as_the_whole_is(ratio: tuple[int, int], down: int, right: int) -> None:
    steps, pixels = ratio
    lattice = Lattice(pixels, steps)
    image = np.random.default_rng(0).random((1, 9 * pixels + 5, 8 * pixels), dtype=np.float32)
    whole = resize_by_ratio(resize_by_ratio(image, steps, pixels), pixels, steps)
    top, left = down * pixels, right * pixels
    window = resize_by_ratio(resize_by_ratio(image[:, top:, left:], steps, pixels), pixels, steps)
    margin = lattice.find_margin(0)
    rows, columns = image.shape[1] - top, image.shape[2] - left
    kept = np.s_[:, (margin if top else 0) : rows, (margin if left else 0) : columns]
    np.testing.assert_array_equal(whole[:, top:, left:][:, :rows, :columns][kept], window[:, :rows, :columns][kept])


def test_the_card_tells_how_far_the_network_sees() -> None:
    model = open_region_model("default")
    told = find_receptive_field(model)
    assert REACH_ENTRY in model.card
    assert 64 < find_receptive_field(replace(model, card={**model.card, REACH_ENTRY: None})) <= told


@pytest.mark.parametrize("scale", [0.97, 1.04])
def test_an_image_of_about_the_right_size_is_seen_as_it_is(scale: float) -> None:
    assert Lattice.from_scale(scale, 16) == Lattice(16, 16)
