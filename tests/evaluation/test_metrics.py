from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from declump.evaluation import Score, pool, score

SHAPE = (10, 10)


def box(top: int, left: int, height: int, width: int) -> np.ndarray:
    mask = np.zeros(SHAPE, bool)
    mask[top : top + height, left : left + width] = True
    return mask


def stack(*masks: np.ndarray) -> np.ndarray:
    return np.stack(masks) if masks else np.zeros((0, *SHAPE), bool)


truth_stacks = st.integers(1, 4).flatmap(lambda n: arrays.arrays(bool, (n, 6, 6)))
matchings = st.sampled_from(["greedy", "hungarian", "isbi2014"])


def hand_case() -> Score:
    """Three true cells of 20 pixels (two overlap in 4), found well, found badly, missed; one false detection."""
    truth = stack(box(0, 0, 4, 5), box(0, 4, 4, 5), box(6, 0, 4, 5))
    predicted = stack(box(0, 0, 4, 4), box(0, 7, 4, 3), box(7, 7, 3, 3))
    return score(truth, predicted)


def test_per_cell_values_by_hand():
    result = hand_case()
    np.testing.assert_array_equal(result.matched, [0, 1, -1])
    # 2 * 16 / (20 + 16) and 2 * 8 / (20 + 12).
    np.testing.assert_allclose(result.dice, [32 / 36, 0.5, 0])
    np.testing.assert_array_equal(result.good, [True, False, False])
    np.testing.assert_array_equal(result.shared, [16, 8, 0])
    np.testing.assert_array_equal(result.spilled, [0, 4, 0])
    np.testing.assert_array_equal(result.background, [80, 80, 80])


def test_figures_by_hand():
    result = hand_case()
    expected = {
        "dice_all": (32 / 36 + 0.5) / 3,
        "dice_overlapping": (32 / 36 + 0.5) / 2,
        "dice_good": 32 / 36,
        "fno": 2 / 3,
        "fdo": 2 / 3,
        "tpp": 16 / 20,
        "fpp": 0.0,
        # The truth's union has 36 + 20 pixels, of which 16 + 8 are covered; 4 + 9 pixels are covered outside.
        "tpr": 24 / 56,
        "tnr": 31 / 44,
        "fpr": 13 / 44,
        "fnr_pixels": (0.2 + 0.6 + 1) / 3,
        "fnr_objects": 2 / 3,
        # Intersections 16 + 8; unions 20 + 24, the missed cell 20, the false detection 9.
        "aji": 24 / 73,
    }
    assert result.figures() == pytest.approx(expected)
    assert list(result.figures()) == list(expected)


def test_fpp_counts_what_spills_over_the_cells_background():
    result = score(stack(box(0, 0, 4, 5)), stack(box(0, 0, 4, 6)))
    assert result.tpp == 1
    assert result.fpp == pytest.approx(4 / 80)


def test_dice_by_overlap_has_the_papers_bins():
    truth = stack(*[box(0, 2 * k, 2, 2) for k in range(5)], box(8, 0, 2, 2), box(8, 5, 2, 2))
    predicted = truth.copy()
    predicted[1] = box(0, 2, 1, 2)
    degree = np.array([0.0, 0.1, 0.25, 0.5, 0.74, 0.75, 1.0])
    result = score(truth, predicted, overlap_degree=degree)
    np.testing.assert_allclose(result.dice_by_overlap, [2 / 3, 1, 1, 1])
    assert result.dice_overlapping == pytest.approx((2 / 3 + 5) / 6)
    empty = score(truth, predicted, overlap_degree=np.zeros(7))
    assert np.isnan(empty.dice_by_overlap).all() and np.isnan(empty.dice_overlapping)


def test_a_prediction_may_serve_two_cells_in_aji_but_not_in_dice():
    truth = stack(box(0, 0, 4, 2), box(0, 2, 4, 2))
    result = score(truth, stack(box(0, 0, 4, 4)))
    np.testing.assert_array_equal(result.matched, [0, -1])
    assert result.aji == pytest.approx(16 / 32)


def test_threshold_is_exclusive():
    truth, half = stack(box(0, 0, 2, 4)), stack(box(0, 2, 2, 4))
    assert score(truth, half).dice_all == 0.5
    assert score(truth, half, threshold=0.5).fno == 1
    assert score(truth, half, threshold=0.49).fno == 0


@given(truth_stacks, matchings)
def test_identical_masks_are_perfect(masks, matching):
    assume(masks.any(axis=(1, 2)).all())
    assume(len(np.unique(masks, axis=0)) == len(masks))
    result = score(masks, masks, matching=matching)
    np.testing.assert_allclose(result.dice, 1)
    figures = result.figures()
    for name in ("dice_all", "dice_good", "tpp", "tpr", "aji"):
        assert figures[name] == 1, name
    for name in ("fno", "fdo", "fpp", "fnr_pixels", "fnr_objects"):
        assert figures[name] == 0, name


@given(truth_stacks, truth_stacks, st.randoms(use_true_random=False))
def test_the_order_of_the_predictions_does_not_matter(truth, predicted, random):
    assume(truth.any(axis=(1, 2)).all())
    result = score(truth, predicted, matching="hungarian")
    order = random.sample(range(len(predicted)), len(predicted))
    shuffled = score(truth, predicted[order], matching="hungarian")
    # Of several best pairings any may be taken, so only the total is fixed.
    assert shuffled.dice_all == pytest.approx(result.dice_all)
    for name in ("tpr", "tnr", "fpr"):
        assert shuffled.figures()[name] == pytest.approx(result.figures()[name], nan_ok=True)


def test_the_order_of_cells_does_not_matter_without_ties():
    rng = np.random.default_rng(0)
    truth = rng.random((5, 20, 20)) < 0.3
    predicted = truth ^ (rng.random((5, 20, 20)) < 0.1)
    result = score(truth, predicted)
    order = [3, 0, 4, 1, 2]
    shuffled = score(truth[order], predicted[::-1])
    np.testing.assert_array_equal(shuffled.dice, result.dice[order])
    assert shuffled.figures() == pytest.approx(result.figures())


def test_no_predictions():
    result = score(stack(box(0, 0, 4, 5)), stack())
    assert (result.dice_all, result.fno, result.fnr_pixels, result.tpr, result.fpr, result.aji) == (0, 1, 1, 0, 0, 0)
    assert result.tnr == 1
    assert all(np.isnan(result.figures()[name]) for name in ("fdo", "dice_good", "tpp", "fpp"))


def test_no_truth():
    result = score(stack(), stack(box(0, 0, 4, 5)))
    assert (result.fdo, result.aji, result.fpr, result.tnr) == (1, 0, 0.2, 0.8)
    undefined = ("dice_all", "dice_overlapping", "dice_good", "fno", "tpp", "fpp", "tpr", "fnr_pixels", "fnr_objects")
    assert all(np.isnan(result.figures()[name]) for name in undefined)


def test_nothing_at_all():
    figures = score(stack(), stack()).figures()
    assert (figures.pop("tnr"), figures.pop("fpr")) == (1, 0)
    assert all(np.isnan(value) for value in figures.values())


def test_an_empty_prediction_is_a_false_detection():
    result = score(stack(box(0, 0, 4, 5)), stack(box(0, 0, 4, 5), box(0, 0, 0, 0)))
    assert (result.dice_all, result.fdo) == (1, 0.5)


def test_pool_is_over_all_cells():
    first = hand_case()
    second = score(stack(box(0, 0, 4, 5)), stack(box(5, 5, 2, 2), box(0, 0, 4, 5)))
    pooled = pool(iter([first, second]))
    np.testing.assert_array_equal(pooled.dice, [*first.dice, *second.dice])
    np.testing.assert_array_equal(pooled.matched, [0, 1, -1, 4])
    assert pooled.dice_all == pytest.approx((32 / 36 + 0.5 + 1) / 4)
    assert pooled.fdo == pytest.approx(3 / 5)
    assert pooled.tpr == pytest.approx((24 + 20) / (56 + 20))
    assert pooled.aji == pytest.approx((24 + 20) / (73 + 24))
    assert pool([first]).figures() == pytest.approx(first.figures())


def test_pool_equals_one_wide_image():
    rng = np.random.default_rng(1)
    truth = rng.random((2, 3, 12, 12)) < 0.4
    predicted = truth ^ (rng.random(truth.shape) < 0.15)
    predicted[1, 0] = False
    pooled = pool(score(*pair) for pair in zip(truth, predicted, strict=True))
    # Side by side with a free band between, so that no cell's outline changes.
    blank = np.zeros((3, 12, 12), bool)

    def wide(masks: np.ndarray) -> np.ndarray:
        return np.concatenate([np.concatenate([masks[0], blank], axis=2), np.concatenate([blank, masks[1]], axis=2)])

    whole = score(wide(truth), wide(predicted), overlap_degree=pooled.overlap_degree)
    np.testing.assert_allclose(whole.dice, pooled.dice)
    for name in ("dice_all", "dice_overlapping", "fno", "fdo", "tpp", "tpr", "tnr", "fpr", "fnr_pixels", "aji"):
        assert pooled.figures()[name] == pytest.approx(whole.figures()[name]), name


def test_pool_refuses_nothing_and_mixtures():
    first = hand_case()
    with pytest.raises(ValueError, match="got 0 scores"):
        pool([])
    with pytest.raises(ValueError, match="score all images alike"):
        pool([first, dataclasses.replace(first, threshold=0.5)])
    with pytest.raises(ValueError, match="score all images alike"):
        pool([first, dataclasses.replace(first, matching="hungarian")])


def test_score_refuses_bad_input():
    masks = stack(box(0, 0, 4, 5))
    with pytest.raises(ValueError, match=r"same image, got \(10, 10\) and \(9, 10\)"):
        score(masks, masks[:, 1:])
    with pytest.raises(ValueError, match=r"predicted_masks must be .* got .* float64"):
        score(masks, masks.astype(float))
    with pytest.raises(ValueError, match=r"truth_masks must be .* got \(10, 10\) bool"):
        score(masks[0], masks)
    with pytest.raises(ValueError, match=r"True cell 1 .* empty mask"):
        score(stack(masks[0], box(0, 0, 0, 0)), masks)
    with pytest.raises(ValueError, match=r"from 0 to 1, got 70"):
        score(masks, masks, threshold=70)
    with pytest.raises(ValueError, match=r"overlap_degree must hold .* got shape \(2,\)"):
        score(masks, masks, overlap_degree=np.zeros(2))
    with pytest.raises(ValueError, match="choose one of"):
        score(masks, masks, matching="best")
