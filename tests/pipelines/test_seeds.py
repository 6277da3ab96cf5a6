from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import declump
from declump import find_seeds

METHODS = ("both", "distance", "concavity")
angles = st.floats(0, 2 * np.pi)
fractions = st.floats(0, 1)


def ellipse(shape, centre, radius, aspect=1.0, angle=0.0) -> np.ndarray:
    rows, columns = np.indices(shape)
    down, right = rows - centre[0], columns - centre[1]
    along, across = np.cos(angle) * right + np.sin(angle) * down, np.cos(angle) * down - np.sin(angle) * right
    return np.hypot(along / np.sqrt(aspect), across * np.sqrt(aspect)) < radius


def matched(seeds: np.ndarray, others: np.ndarray) -> float:
    """Greatest distance of a seed from the nearest of others."""
    return float(np.linalg.norm(seeds[:, None] - others[None], axis=2).min(axis=1).max())


@settings(max_examples=40)
@given(st.sampled_from([4.0, 6.0, 15.0, 40.0]), st.floats(1, 3), angles, fractions, fractions, st.sampled_from(METHODS))
def test_a_convex_object_of_any_size_has_one_seed_in_its_middle(radius, aspect, angle, down, right, method):
    side = int(4.5 * radius) + 8
    centre = (side / 2 + down, side / 2 + right)
    seeds = find_seeds(ellipse((side, side), centre, radius, aspect, angle), method=method)
    assert len(seeds) == 1
    assert np.linalg.norm(seeds[0] - centre) < 1 + 0.1 * radius


@settings(max_examples=20)
@given(st.integers(3, 9), angles, st.floats(8, 24))
def test_a_convex_polygon_has_one_seed(corners, angle, radius):
    rows, columns = np.indices((100, 100)) - 50.0
    turns = angle + 2 * np.pi * np.arange(corners) / corners
    mask = np.all([np.cos(turn) * columns + np.sin(turn) * rows < radius for turn in turns], axis=0)
    assert len(find_seeds(mask)) == 1


@settings(max_examples=30)
@example(12.0, 0.75, 1.25, 2.0)
@given(st.sampled_from([12.0, 25.0, 60.0]), st.floats(0.75, 1), st.floats(1.2, 1.9), angles)
def test_two_discs_that_overlap_have_a_seed_each(radius, ratio, apart, angle):
    side = int(7 * radius)
    first = np.array([side / 2, side / 2])
    second = first + apart * radius * (1 + ratio) / 2 * np.array([np.sin(angle), np.cos(angle)])
    masks = [ellipse((side, side), first, radius), ellipse((side, side), second, ratio * radius)]
    seeds = find_seeds(masks[0] | masks[1])
    assert len(seeds) == 2
    assert matched(np.stack([first, second]), seeds) < 0.5 * radius


@settings(max_examples=20)
@example(15.0, 1.58984375, 4.8828125, 1.203125)
@example(40.0, 1.59375, 4.5, 1.203125)
@example(40.0, 1.625, 0.0, 1.25)
@given(st.sampled_from([15.0, 40.0]), st.floats(1.3, 1.8), angles, st.floats(1.2, np.pi))
def test_three_discs_in_a_chain_or_a_triangle_have_a_seed_each(radius, apart, angle, bend):
    side = int(9 * radius)
    middle = np.array([side / 2, side / 2])
    ends = [middle + apart * radius * np.array([np.sin(turn), np.cos(turn)]) for turn in (angle, angle + bend)]
    mask = np.any([ellipse((side, side), centre, radius) for centre in (middle, *ends)], axis=0)
    seeds = find_seeds(mask)
    assert len(seeds) == 3
    assert matched(np.stack([middle, *ends]), seeds) < 0.7 * radius


def test_discs_that_hide_half_of_each_other_are_told_by_their_notches_alone():
    mask = ellipse((240, 240), (120, 102), 60) | ellipse((240, 240), (120, 138), 60)
    assert len(find_seeds(mask, method="distance")) == 1
    assert len(find_seeds(mask, method="concavity")) == len(find_seeds(mask)) == 2


def test_touching_discs_round_a_small_gap_are_cut_there():
    rows, columns = np.mgrid[0:4, 0:4]
    centres = np.column_stack([(30 + 20.8 * rows).ravel(), (30 + 24 * columns + 12 * (rows % 2)).ravel()])
    mask = np.any([ellipse((130, 150), centre, 12.6) for centre in centres], axis=0)
    seeds = find_seeds(mask)
    assert len(seeds) == len(centres)
    assert matched(centres, seeds) < 4


def three() -> np.ndarray:
    """A pair and a single object, not symmetric."""
    pair = ellipse((140, 180), (50, 50), 30, 1.3, 0.4) | ellipse((140, 180), (62, 92), 24)
    return pair | ellipse((140, 180), (105, 145), 18, 1.5, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_seeds_move_turn_and_grow_with_the_mask(method):
    mask, seeds = three(), find_seeds(three(), method=method)
    assert len(seeds) == 3
    height = mask.shape[0]
    np.testing.assert_allclose(
        find_seeds(np.pad(mask, ((7, 3), (11, 5))), method=method), seeds + np.array([7, 11]), atol=1e-6
    )
    turned = find_seeds(np.rot90(mask, -1), method=method)
    assert matched(np.column_stack([seeds[:, 1], height - 1 - seeds[:, 0]]), turned) < 1.5
    grown = find_seeds(np.kron(mask, np.ones((3, 3), bool)), method=method)
    assert len(grown) == 3
    assert matched(3 * seeds + 1, grown) < 6


def test_objects_of_very_different_sizes():
    small, large = ellipse((400, 700), (200, 40), 6) | ellipse((400, 700), (200, 51), 6), (200, 400)
    assert len(find_seeds(small)) == 2
    assert len(find_seeds(small | ellipse((400, 700), large, 180))) == 3


def test_an_object_that_the_border_cuts_has_one_seed_inside():
    mask = ellipse((60, 60), (2, 30), 25)
    seeds = find_seeds(mask)
    assert len(seeds) == 1 and mask[tuple(np.rint(seeds[0]).astype(int))]


@settings(max_examples=30)
@example(331, 0.1875, "both")
@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.98), st.sampled_from(METHODS))
def test_any_mask_has_seeds_inside_at_least_one_a_piece_and_no_two_on_a_pixel(number, density, method):
    from scipy import ndimage

    mask = np.random.default_rng(number).random((24, 31)) < density
    seeds = find_seeds(mask, method=method)
    rows, columns = np.floor(seeds + 0.5).astype(int).T
    assert seeds.shape == (len(seeds), 2) and mask[rows, columns].all()
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == len(seeds)
    labels, count = ndimage.label(mask, np.ones((3, 3)))
    assert set(labels[rows, columns].tolist()) == set(range(1, count + 1))


@pytest.mark.parametrize("method", METHODS)
def test_empty_full_and_one_pixel_masks(method):
    assert find_seeds(np.zeros((5, 7), bool), method=method).shape == (0, 2)
    assert find_seeds(np.ones((1, 1), bool), method=method).tolist() == [[0, 0]]
    np.testing.assert_allclose(find_seeds(np.ones((9, 21), bool), method=method), [[4, 10]], atol=0.01)
    one = np.zeros((5, 7), np.uint8)
    one[2, 3] = one[0, 6] = 255
    assert find_seeds(one, method=method).tolist() == [[0, 6], [2, 3]]


def test_a_huge_mask_takes_as_long_as_its_objects():
    mask = np.zeros((9000, 9000), bool)
    mask[4000:4140, 5000:5180] = three()
    assert len(find_seeds(mask)) == 3


def test_what_is_no_mask_or_method_is_refused():
    with pytest.raises(ValueError, match=r"'both', 'distance', 'concavity'; given was 'luck'"):
        find_seeds(np.ones((4, 4), bool), method="luck")
    with pytest.raises(ValueError, match="clump mask"):
        find_seeds(np.ones((4, 4, 3), bool))


def test_the_public_name():
    assert declump.find_seeds is find_seeds
