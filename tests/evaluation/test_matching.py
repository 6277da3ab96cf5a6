from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from declump.evaluation import dice_matrix, match

SHAPE = (6, 7)
stacks = st.integers(0, 4).flatmap(lambda n: arrays.arrays(bool, (n, *SHAPE)))
# Few distinct values, so that ties are common.
matrices = st.tuples(st.integers(0, 4), st.integers(0, 4)).flatmap(
    lambda shape: arrays.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]))
)


def total(dice: np.ndarray, matched: np.ndarray) -> float:
    return sum(dice[row, column] for row, column in enumerate(matched) if column >= 0)


@given(stacks, stacks)
def test_dice_matrix_equals_its_definition(truth, predicted):
    expected = np.zeros((len(truth), len(predicted)))
    for i, j in np.ndindex(expected.shape):
        size = truth[i].sum() + predicted[j].sum()
        expected[i, j] = 2 * (truth[i] & predicted[j]).sum() / size if size else 0
    np.testing.assert_allclose(dice_matrix(truth, predicted), expected)


def test_dice_matrix_refuses_what_it_cannot_compare():
    masks = np.zeros((2, *SHAPE), bool)
    with pytest.raises(ValueError, match=r"same image, got \(6, 7\) and \(6, 6\)"):
        dice_matrix(masks, masks[:, :, 1:])
    with pytest.raises(ValueError, match=r"predicted must be an \(N, H, W\) bool array, got \(2, 6, 7\) uint8"):
        dice_matrix(masks, masks.astype(np.uint8))
    with pytest.raises(ValueError, match=r"truth must be .* got \(6, 7\) bool"):
        dice_matrix(masks[0], masks)
    with pytest.raises(ValueError, match="got list"):
        dice_matrix([masks[0]], masks)


def test_the_three_matchings_differ_where_they_should():
    dice = np.array([[0.8, 0.7, 0.0], [0.9, 0.85, 0.0]])
    np.testing.assert_array_equal(match(dice), [1, 0])
    np.testing.assert_array_equal(match(dice, "hungarian"), [0, 1])
    np.testing.assert_array_equal(match(dice, "isbi2014"), [0, 1])
    dice = np.array([[0.3, 0.2], [0.9, 0.0]])
    np.testing.assert_array_equal(match(dice), [1, 0])
    np.testing.assert_array_equal(match(dice, "hungarian"), [1, 0])
    np.testing.assert_array_equal(match(dice, "isbi2014"), [0, -1])


@pytest.mark.parametrize("method", ["greedy", "isbi2014"])
def test_ties_go_to_the_lowest_index(method):
    np.testing.assert_array_equal(match(np.full((2, 3), 0.5), method), [0, 1])


@given(matrices)
def test_greedy_equals_deleting_rows_and_columns(dice):
    expected = np.full(len(dice), -1)
    left = dice.copy()
    while left.size and left.max() > 0:
        row, column = np.unravel_index(left.argmax(), left.shape)
        expected[row] = column
        left[row] = left[:, column] = 0
    np.testing.assert_array_equal(match(dice, "greedy"), expected)


@given(matrices)
def test_hungarian_is_the_best_of_all_pairings(dice):
    wide = dice if dice.shape[0] <= dice.shape[1] else dice.T
    pairings = itertools.permutations(range(wide.shape[1]), wide.shape[0])
    best = max(sum(wide[row, column] for row, column in enumerate(pairing)) for pairing in pairings)
    assert total(dice, match(dice, "hungarian")) == pytest.approx(best)
    assert best >= total(dice, match(dice, "greedy")) - 1e-9


@given(matrices, st.sampled_from(["greedy", "hungarian", "isbi2014"]))
def test_matching_is_one_to_one_and_of_positive_dice(dice, method):
    matched = match(dice, method)
    found = np.flatnonzero(matched >= 0)
    assert matched.shape == (len(dice),)
    assert len(set(matched[found])) == len(found)
    assert (dice[found, matched[found]] > 0).all()


def test_match_refuses_bad_input():
    with pytest.raises(ValueError, match="choose one of greedy, hungarian, isbi2014"):
        match(np.zeros((1, 1)), "best")
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        match(np.zeros(3))
    for value in (np.nan, 1.5, -0.1):
        with pytest.raises(ValueError, match="values outside"):
            match(np.array([[value]]))


def test_in_order_pairs_by_position_and_drops_pairs_without_overlap():
    dice = np.array([[0.2, 0.9], [0.8, 0.0]])
    assert match(dice, "order").tolist() == [0, -1]


def test_in_order_needs_as_many_predictions_as_cells():
    with pytest.raises(ValueError, match="one prediction a true cell"):
        match(np.zeros((2, 3)), "order")
