from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.evidence.windows import (
    ANGLES,
    CHANNELS,
    DEPTHS,
    STEP,
    Surroundings,
    View,
    interpolate,
    is_left_handed,
    mirror_rows,
    prepare_surroundings,
    sample_points,
    sample_window,
    sample_window_by_points,
)

SHAPE = (220, 260)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]
SEED = np.array([100.0, 120.0])


@pytest.fixture(scope="module")
def around() -> Surroundings:
    """A cell with a nucleus, beside another, in light that rises to the right."""
    image = (150 + 80 * COLUMNS / SHAPE[1]).astype(np.uint8)
    clump = (np.hypot(ROWS - 100, COLUMNS - 120) < 50) | (np.hypot(ROWS - 100, COLUMNS - 190) < 40)
    nuclei = np.where(np.hypot(ROWS - 100, COLUMNS - 120) < 10, 1, 0) + np.where(
        np.hypot(ROWS - 100, COLUMNS - 190) < 8, 2, 0
    )
    return prepare_surroundings(image, clump, nuclei.astype(np.int32), STEP)


def test_a_disc_is_a_straight_edge(around: Surroundings) -> None:
    seen = sample_window(around, SEED, 1, np.array([[100.0, 190.0]]), View(STEP))
    assert seen.shape == (CHANNELS, ANGLES, DEPTHS)
    free = seen[3, ANGLES // 4 : 3 * ANGLES // 4]
    np.testing.assert_allclose(free.sum(axis=1) * STEP, 50, atol=1.5)
    np.testing.assert_allclose(seen[5].sum(axis=1) * STEP, 10, atol=1.5)


def test_only_the_other_nucleus_is_another_and_it_can_be_hidden(around: Surroundings) -> None:
    others = np.array([[100.0, 190.0]])
    seen = sample_window(around, SEED, 1, others, View(STEP))
    directions = np.flatnonzero(seen[4].any(axis=1))
    assert directions.size and set(directions) <= {0, 1, ANGLES - 1}
    assert not sample_window(around, SEED, 1, others, View(STEP), [2])[4].any()


def test_the_lead_is_lost_half_way_to_the_other_seed(around: Surroundings) -> None:
    lead = sample_window(around, SEED, 1, np.array([[100.0, 190.0]]), View(STEP))[7]
    distances = (np.arange(DEPTHS) + 0.5) * STEP
    assert (lead[0, distances < 34] > 0).all() and (lead[0, distances > 36] < 0).all()
    alone = sample_window(around, SEED, 1, np.empty((0, 2)), View(STEP))[7]
    assert (alone == 1).all()


def test_beyond_the_image_there_is_background(around: Surroundings) -> None:
    seen = sample_window(around, np.array([2.0, 120.0]), 1, np.empty((0, 2)), View(STEP))
    up = 3 * ANGLES // 4  # angles run from +column towards +row
    assert not seen[6, up, 2:].any() and (seen[0, up, 2:] == 1).all() and not seen[3, up, 2:].any()


@given(steps=st.integers(0, ANGLES - 1))
def test_turning_the_view_moves_the_rows(steps: int) -> None:
    noise = np.random.default_rng(0).integers(0, 255, SHAPE).astype(np.uint8)
    around = prepare_surroundings(noise, noise > 99, np.zeros(SHAPE, np.int32), STEP)
    straight = sample_window(around, SEED, 1, np.array([[60.0, 70.0]]), View(STEP))
    turned = sample_window(around, SEED, 1, np.array([[60.0, 70.0]]), View(STEP, turn=2 * np.pi * steps / ANGLES))
    np.testing.assert_allclose(turned[:4], np.roll(straight, -steps, axis=1)[:4], atol=1e-4)


@given(stretch=st.floats(0.7, 1.4), turn=st.floats(0, 6.3), mirrored=st.booleans())
def test_a_stretched_view_takes_its_points_for_those_of_a_view_that_is_not(
    stretch: float, turn: float, mirrored: bool
) -> None:
    view = View(STEP, turn, mirrored, stretch=stretch)
    points, plain = (
        np.stack(sample_points(SEED, seen), axis=-1).reshape(-1, 2) for seen in (view, View(STEP, turn, mirrored))
    )
    np.testing.assert_allclose(view.unstretch(points, SEED), plain, atol=1e-9)
    areas = [
        np.linalg.det(np.stack([np.take(part, [0, ANGLES // 4]) for part in seen.directions()]))
        for seen in (view, View(STEP, turn, mirrored))
    ]
    np.testing.assert_allclose(*areas)


def test_a_mirrored_view_of_a_mirrored_image_is_the_same() -> None:
    noise = np.random.default_rng(0).integers(0, 255, SHAPE).astype(np.uint8)
    labels = np.zeros(SHAPE, np.int32)
    straight = sample_window(
        prepare_surroundings(noise, noise > 99, labels, STEP), SEED, 1, np.array([[60.0, 70.0]]), View(STEP)
    )
    flipped = prepare_surroundings(noise[::-1], noise[::-1] > 99, labels, STEP)
    seed, others = np.array([SHAPE[0] - 1 - 100.0, 120.0]), np.array([[SHAPE[0] - 1 - 60.0, 70.0]])
    np.testing.assert_allclose(sample_window(flipped, seed, 1, others, View(STEP, mirrored=True)), straight, atol=1e-4)


def test_interpolation_is_exact_on_a_plane() -> None:
    plane = (3 * ROWS - 2 * COLUMNS)[None].astype(np.float32)
    rows, columns = np.random.default_rng(0).uniform(0, 200, (2, 5, 7))
    np.testing.assert_allclose(interpolate(plane, rows, columns)[0], 3 * rows - 2 * columns, atol=1e-3)


@given(st.integers(0, 2**31), st.floats(-30, 90), st.floats(-30, 90), st.floats(0.7, 4), st.booleans())
def test_the_kernel_sees_what_its_twin_does(seed: int, row: float, column: float, step: float, mirrored: bool) -> None:
    rng = np.random.default_rng(seed)
    around = Surroundings(rng.random((4, 60, 70), dtype=np.float32), rng.integers(0, 4, (60, 70), dtype=np.int32))
    others, view = rng.uniform(0, 60, (int(rng.integers(0, 4)), 2)), View(step, turn=1.1, mirrored=mirrored)
    place = np.array([row, column])
    fast, plain = (look(around, place, 1, others, view, [3]) for look in (sample_window, sample_window_by_points))
    np.testing.assert_array_equal(fast, plain)


@pytest.mark.parametrize("turn", [0.0, 2 * np.pi * 5 / ANGLES])
def test_of_a_window_and_its_mirror_image_one_is_left_handed(around: Surroundings, turn: float) -> None:
    seed = np.array([90.0, 135.0])
    seen = sample_window(around, seed, 1, np.array([[100.0, 190.0]]), View(STEP, turn))
    mirrored = sample_window(around, seed, 1, np.array([[100.0, 190.0]]), View(STEP, turn, mirrored=True))
    np.testing.assert_allclose(mirror_rows(sample_window(around, seed, 1, np.empty((0, 2)), View(STEP)))[7], 1)
    assert is_left_handed(seen) != is_left_handed(mirror_rows(seen))
    assert np.array_equal(mirror_rows(mirror_rows(seen)), seen)
    if turn == 0:
        np.testing.assert_allclose(mirror_rows(seen)[:4], mirrored[:4], atol=1e-5)
