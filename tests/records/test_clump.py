from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump.records.clump import check_mask, seed_pixels, split_clumps

numbers = st.integers(0, 2**32 - 1)


def mask_of(text: str) -> np.ndarray:
    """A mask drawn with # and dots."""
    return np.array([[letter == "#" for letter in line] for line in text.split()])


def random_scene(number: int) -> tuple[np.ndarray, np.ndarray]:
    """A mask of a few discs and specks, and seeds in and outside it."""
    rng = np.random.default_rng(number)
    shape = rng.integers(5, 60, 2)
    rows, columns = np.indices(shape)
    mask = rng.random(shape) < 0.02
    for _ in range(rng.integers(0, 6)):
        row, column, radius = rng.random(3) * (*shape, 12)
        mask |= np.hypot(rows - row, columns - column) <= radius
    count = rng.integers(0, 8)
    flat = rng.permutation(mask.size)[: min(count, mask.size)]
    return mask, np.column_stack(np.unravel_index(flat, mask.shape)) + rng.uniform(-0.49, 0.49, (flat.size, 2))


@settings(max_examples=60)
@given(numbers)
def test_the_clumps_together_are_the_mask_and_hold_the_seeds_in_it(number):
    mask, seeds = random_scene(number)
    pixels = np.rint(seeds).astype(int)
    painted = np.full(mask.shape, -1)
    held = []
    for index, clump in enumerate(split_clumps(mask, seeds)):
        assert clump.label == index
        (top, left), (height, width) = clump.origin, clump.mask.shape
        window = painted[top : top + height, left : left + width]
        assert window.shape == clump.mask.shape, "the crop lies in the image"
        assert np.all(window[clump.mask] == -1), "no pixel lies in two clumps"
        window[clump.mask] = index
        assert clump.size == clump.mask.sum() > 0
        np.testing.assert_array_equal(clump.seeds + clump.origin, pixels[clump.cells])
        assert clump.mask[clump.seeds[:, 0], clump.seeds[:, 1]].all()
        held.extend(clump.cells.tolist())
    np.testing.assert_array_equal(painted >= 0, mask)
    inside = mask[pixels[:, 0], pixels[:, 1]] if len(pixels) else np.empty(0, dtype=bool)
    assert sorted(held) == np.flatnonzero(inside).tolist()


def test_clumps_are_met_along_the_rows_and_touch_by_corners():
    mask = mask_of("""
        .....##
        #....#.
        .#.....
        ..#..##
        """)
    clumps = split_clumps(mask, [(3, 2), (0, 6), (2, 1)])
    assert [clump.size for clump in clumps] == [3, 3, 2]
    assert [clump.cells.tolist() for clump in clumps] == [[1], [0, 2], []]


def test_another_clump_within_the_crop_is_left_out():
    mask = mask_of("""
        #####
        #...#
        #.#.#
        #...#
        #####
        """)
    ring, speck = split_clumps(mask, [(2, 2), (0, 0)])
    assert ring.mask.shape == speck.mask.shape == (5, 5)
    assert not ring.mask[2, 2]
    assert speck.size == 1
    assert speck.cells.tolist() == [0]


def test_the_crop_is_as_wide_as_asked_for_unless_the_image_ends():
    mask = np.zeros((200, 300), dtype=bool)
    mask[100:120, 140:180] = True
    (clump,) = split_clumps(mask, [(110, 160)])
    wide = clump.with_room(30)
    assert wide.mask.shape == (clump.mask.shape[0] + 60, clump.mask.shape[1] + 60)
    assert wide.size == clump.size == 800
    for crop in (clump, wide, clump.with_room(150), clump.with_room(1000)):
        rows, columns = np.nonzero(crop.mask)
        assert (rows.min() + crop.origin[0], columns.min() + crop.origin[1]) == (100, 140)
        assert (crop.seeds[0] + crop.origin).tolist() == [110, 160]
    assert clump.with_room(1000).mask.shape == mask.shape


def test_an_empty_mask_has_no_clumps():
    assert split_clumps(np.zeros((9, 9), dtype=bool), [(3, 3)]) == []


@pytest.mark.parametrize(
    "mask",
    [
        np.array([[True, False]]),
        np.array([[1, 0]], dtype=np.uint8),
        np.array([[255, 0]], dtype=np.uint8),
        np.array([[1.0, 0.0]]),
        [[1, 0]],
    ],
)
def test_masks_of_two_values(mask):
    checked = check_mask(mask)
    assert checked.dtype == np.bool_
    assert checked.tolist() == [[True, False]]


@pytest.mark.parametrize(
    "mask",
    [
        np.array([[0, 1, 2]]),
        np.array([[0, 128]], dtype=np.uint8),
        np.array([[0, -1]]),
        np.array([[0.0, 0.5]]),
        np.array([[0.0, np.nan]]),
        np.array([[0.0, 1.0, np.nan]]),
        np.array([[0.0, 1.0, 255.0, np.nan]]),
        np.array([[0, 1, 255, 256]]),
        np.array([["a", "b"]]),
    ],
)
def test_masks_of_other_values_are_refused(mask):
    with pytest.raises(ValueError, match="threshold"):
        check_mask(mask)


@pytest.mark.parametrize("shape", [(), (5,), (0, 5), (5, 0), (3, 4, 5)])
def test_masks_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match="mask"):
        check_mask(np.zeros(shape, dtype=bool))


def test_a_seed_is_taken_at_the_pixel_that_holds_it():
    seeds = [(-0.5, 0), (0.49, 1.5), (2.4999, 3.51), (9.49, 9)]
    assert seed_pixels(seeds, (10, 10)).tolist() == [[0, 0], [0, 2], [2, 4], [9, 9]]


@pytest.mark.parametrize("seeds", [[], np.empty((0, 2)), ()])
def test_no_seeds(seeds):
    pixels = seed_pixels(seeds, (10, 10))
    assert pixels.shape == (0, 2)
    assert pixels.dtype == np.int64


@pytest.mark.parametrize("seeds", [(3, 4), [[1, 2, 3]], np.zeros((2, 2, 2)), 5])
def test_seeds_of_another_shape_are_refused(seeds):
    with pytest.raises(ValueError, match=r"\(N, 2\)"):
        seed_pixels(seeds, (10, 10))


@pytest.mark.parametrize("seed", [(-0.51, 3), (3, -1), (9.5, 3), (3, 20), (3, 1e300)])
def test_seeds_outside_the_image_are_refused_by_number(seed):
    with pytest.raises(ValueError, match=r"seed 1 at .* outside the image"):
        seed_pixels([(3, 3), seed], (10, 20))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_seeds_that_are_no_numbers_are_refused(value):
    with pytest.raises(ValueError, match="finite"):
        seed_pixels([(3, value)], (10, 10))


def test_two_seeds_on_one_pixel_are_refused_by_number():
    with pytest.raises(ValueError, match=r"seeds 1, 3 share the pixel \(4, 5\)"):
        seed_pixels([(0, 0), (4.2, 5.3), (4, 6), (3.8, 4.9)], (10, 10))
