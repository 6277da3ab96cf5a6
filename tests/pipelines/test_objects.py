from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import declump
from declump.pipelines.objects import _drop_hidden
from declump.records.segmentation import Segmentation


def disc(shape, centre, radius) -> np.ndarray:
    rows, columns = np.indices(shape)
    return np.hypot(rows - centre[0], columns - centre[1]) < radius


@pytest.mark.parametrize("radius", [6, 300])
def test_a_pair_of_any_size_comes_out_whole(radius):
    shape = (5 * radius, 6 * radius)
    truth = np.stack([disc(shape, (2.4 * radius, column * radius), radius) for column in (2.2, 3.7)])
    result = declump.split(truth.any(axis=0))
    assert declump.score(truth, result.masks).dice.min() > 0.96


@settings(max_examples=8)
@given(st.floats(1.2, 1.8), st.floats(0, 2 * np.pi), st.floats(0.7, 1))
def test_discs_that_overlap_are_found_and_completed(apart, angle, ratio):
    first, radius = np.array([90.0, 90.0]), 25.0
    second = first + apart * radius * (1 + ratio) / 2 * np.array([np.sin(angle), np.cos(angle)])
    truth = np.stack([disc((180, 180), first, radius), disc((180, 180), second, ratio * radius)])
    result = declump.split(truth.any(axis=0))
    assert declump.score(truth, result.masks).dice.min() > 0.93


def test_large_things_among_specks():
    truth = np.stack([disc((160, 200), (80, 70), 30), disc((160, 200), (84, 112), 26)])
    mask = truth.any(axis=0)
    mask[::40, ::50] = True
    assert declump.score(truth, declump.split(mask).masks).dice.min() > 0.96


def test_given_seeds_are_kept_in_their_order():
    mask = disc((100, 140), (50, 50), 30) | disc((100, 140), (50, 90), 30)
    result = declump.split(mask, seeds=[(50, 92), (48, 50)])
    np.testing.assert_array_equal(result.seeds, [(50, 92), (48, 50)])


def test_an_empty_mask_and_another_prior():
    assert len(declump.split(np.zeros((20, 30), bool))) == 0
    assert len(declump.split(disc((60, 60), (30, 30), 20), prior="nucleus")) == 1


def test_what_does_not_show_beside_the_others_is_left_out():
    seeds = np.array([(50.0, 50.0), (50.0, 58.0), (50.0, 100.0)])
    radii = np.array([[30.0], [10.0], [20.0]]) * np.ones(36)
    kept = _drop_hidden(Segmentation((100, 140), seeds, radii, np.zeros(3, np.int64)))
    np.testing.assert_array_equal(kept.seeds, seeds[[0, 2]])
