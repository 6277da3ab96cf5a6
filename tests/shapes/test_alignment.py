from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump import _kernels
from declump.shapes import contours
from declump.shapes.alignment import largest_copy, largest_copy_by_sorting

numbers = st.integers(0, 2**32 - 1)


def ellipse(rays: int, long: float, short: float) -> np.ndarray:
    angles = 2 * np.pi * np.arange(rays) / rays
    return long * short / np.hypot(short * np.cos(angles), long * np.sin(angles))


@given(numbers, st.integers(16, 90), st.integers(0, 6), st.floats(0, 1))
def test_the_compiled_search_finds_what_sorting_finds(number, rays, tolerated, open_share):
    rng = np.random.default_rng(number)
    shape = rng.uniform(0.5, 30, rays)
    exits = np.where(rng.random(rays) < open_share, np.inf, rng.uniform(0, 60, rays))
    assert _kernels.largest_copy(shape, exits, tolerated) == largest_copy_by_sorting(shape, exits, tolerated)


def test_the_compiled_search_takes_the_first_of_equal_rotations():
    assert _kernels.largest_copy(np.full(36, 5.0), np.full(36, 10.0), 0) == (2.0, 0)


@given(numbers, st.integers(16, 90), st.integers(0, 89), st.floats(0.2, 5))
def test_a_copy_in_its_own_outline_is_found(number, rays, shift, scale):
    shape = np.random.default_rng(number).uniform(5, 30, rays)
    found, rotation = largest_copy(shape, scale * np.roll(shape, shift), tolerated=0)
    assert found == pytest.approx(scale, rel=1e-12)
    np.testing.assert_allclose(found * contours.rotate(shape, rotation), scale * np.roll(shape, shift), rtol=1e-9)


@given(numbers, st.integers(16, 90))
def test_the_copy_fits_and_touches(number, rays):
    rng = np.random.default_rng(number)
    shape, exits = rng.uniform(5, 30, rays), rng.uniform(5, 30, rays)
    scale, rotation = largest_copy(shape, exits, tolerated=0)
    room = exits - scale * np.roll(shape, round(rotation * rays / (2 * np.pi)))
    assert room.min() == pytest.approx(0, abs=1e-9)


def two_discs() -> np.ndarray:
    rows, columns = np.indices((90, 110))
    return (np.hypot(rows - 45, columns - 40) < 26) | (np.hypot(rows - 45, columns - 72) < 22)


def tilted_ellipse() -> np.ndarray:
    rows, columns = np.indices((90, 110)) - np.array([45, 55]).reshape(2, 1, 1)
    along, across = columns * np.cos(0.5) + rows * np.sin(0.5), rows * np.cos(0.5) - columns * np.sin(0.5)
    return (along / 36) ** 2 + (across / 22) ** 2 < 1


def bent_clump() -> np.ndarray:
    rows, columns = np.indices((90, 110))
    mask = np.zeros((90, 110), dtype=bool)
    for row, column in ((30, 30), (45, 55), (35, 80)):
        mask |= np.hypot((rows - row) / 18, (columns - column) / 24) < 1
    return mask


@pytest.mark.parametrize(
    ("mask", "seed"),
    [(two_discs(), (45, 40)), (two_discs(), (45, 57)), (tilted_ellipse(), (45, 55)), (bent_clump(), (44, 56))],
)
@pytest.mark.parametrize("shape", [ellipse(72, 20, 20), ellipse(72, 24, 14)])
def test_the_copy_is_the_largest_on_a_grid_of_scales_and_rotations(mask, seed, shape):
    scales = np.arange(0.3, 2.5, 0.02)
    best = 0.0
    for shift in range(0, 72, 2):
        fitting = 0.0
        for scale in scales:
            copy = contours.to_mask(seed, scale * np.roll(shape, shift), mask.shape)
            if (copy & ~mask).any():
                break
            fitting = scale
        best = max(best, fitting)
    scale, rotation = largest_copy(shape, contours.first_exits(mask, seed, 72), tolerated=0)
    assert scale == pytest.approx(best, abs=0.06)
    # the copy itself stays inside, up to pixels that its outline runs through
    smaller = contours.to_mask(seed, 0.95 * scale * contours.rotate(shape, rotation), mask.shape)
    assert not (smaller & ~mask).any()


def test_open_rays_limit_nothing():
    shape, exits = np.full(36, 10.0), np.full(36, np.inf)
    exits[:4] = [30, 25, 40, 50]
    assert largest_copy(shape, exits, tolerated=0) == (2.5, 0.0)


def test_a_shape_turns_its_long_side_to_the_open_rays():
    shape = ellipse(36, 20, 10)
    exits = np.full(36, 10.0)
    exits[[8, 9, 10, 26, 27, 28]] = np.inf
    _, rotation = largest_copy(shape, exits, tolerated=0)
    assert rotation == pytest.approx(np.pi / 2)


def test_without_any_closed_ray_the_scale_is_infinite():
    scale, rotation = largest_copy(np.full(36, 10.0), np.full(36, np.inf))
    assert scale == np.inf
    assert rotation == 0


def test_one_noisy_ray_is_tolerated_unless_none_may_be():
    shape, exits = np.full(100, 10.0), np.full(100, 20.0)
    exits[17] = 1.0
    assert largest_copy(shape, exits)[0] == 2.0
    assert largest_copy(shape, exits, tolerated=0)[0] == pytest.approx(0.1)
    exits[[40, 41]] = 1.0
    assert largest_copy(shape, exits)[0] == pytest.approx(0.1), "three rays are more than 2 %"


def test_from_a_seed_outside_the_clump_the_copy_is_empty():
    assert largest_copy(np.full(36, 10.0), np.zeros(36))[0] == 0


def test_rotation_lies_within_one_turn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        _, rotation = largest_copy(rng.uniform(5, 30, 36), rng.uniform(5, 30, 36))
        assert 0 <= rotation < 2 * np.pi


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match=r"\(36,\) and \(35,\)"):
        largest_copy(np.ones(36), np.ones(35))
    with pytest.raises(ValueError, match="one entry a ray"):
        largest_copy(np.ones((2, 36)), np.ones((2, 36)))
    for tolerated in (-0.1, 1.0, np.nan):
        with pytest.raises(ValueError, match="tolerated"):
            largest_copy(np.ones(36), np.ones(36), tolerated=tolerated)
