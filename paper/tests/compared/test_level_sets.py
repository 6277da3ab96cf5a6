from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump_paper.compared import level_set_kernels as kernels
from declump_paper.compared.level_sets import (
    BAND_REACH,
    Flow,
    diffusion,
    dirac,
    distance_function,
    edge_indicator,
    evolve_level_set,
    find_band,
    find_window,
    flow_by_arrays,
    heaviside,
    largest_piece,
    step_function,
)


def disc(shape: tuple[int, int], row: float, column: float, radius: float) -> np.ndarray:
    rows, columns = np.indices(shape)
    return np.hypot(rows - row, columns - column) <= radius


@given(
    seed=st.integers(0, 2**32 - 1),
    height=st.integers(6, 40),
    width=st.integers(6, 40),
    steps=st.integers(0, 12),
    length=st.sampled_from([0.0, 0.5, 2.0]),
    star=st.sampled_from([0.0, 0.7]),
    tails=st.booleans(),
)
def test_compiled_flow_is_its_readable_twin(
    seed: int, height: int, width: int, steps: int, length: float, star: float, tails: bool
) -> None:
    rng = np.random.default_rng(seed)
    row, column, radius = rng.uniform(0, height), rng.uniform(0, width), rng.uniform(1, 20)
    phi = step_function(disc((height, width), row, column, radius)) + rng.normal(0, 0.2, (height, width))
    edge, push = rng.uniform(0, 1, (height, width)), rng.normal(0, 0.5, (height, width))
    flow = Flow(step=1.0, regularity=0.1, length=length, star=star, tails=tails)
    given_phi = phi.copy()
    fast = evolve_level_set(phi, flow, steps, edge=edge, push=push, centre=(row, column))
    slow = flow_by_arrays(phi, flow, steps, edge, push, (row, column))
    np.testing.assert_allclose(fast, slow, rtol=1e-7, atol=1e-9)
    assert np.array_equal(phi, given_phi)


@given(seed=st.integers(0, 2**32 - 1), height=st.integers(1, 30), width=st.integers(1, 30), reach=st.integers(0, 5))
def test_compiled_band_is_its_readable_twin(seed: int, height: int, width: int, reach: int) -> None:
    phi = np.random.default_rng(seed).normal(0.8, 1, (height, width))
    marks, listed = np.zeros(phi.shape, np.uint8), np.empty((phi.size, 2), np.int32)
    count = kernels.mark_band(phi, reach, marks, listed)
    assert np.array_equal(marks == kernels.BAND, find_band(phi, reach))
    assert np.array_equal(marks > 0, find_band(phi, reach + 1))
    assert np.array_equal(listed[:count], np.argwhere(marks > 0))


def test_what_is_far_from_the_outline_never_changes() -> None:
    phi = step_function(disc((90, 90), 45, 45, 20))
    far = ~find_band(phi, BAND_REACH + 3)
    moved = evolve_level_set(phi, Flow(1.0, 0.2), 5, push=np.full(phi.shape, -1.0))
    assert np.array_equal(moved[far], phi[far])
    assert not np.array_equal(moved, phi)


def test_push_moves_the_outline_both_ways() -> None:
    phi = step_function(disc((90, 90), 45, 45, 20))
    flow = Flow(1.0, 0.2)
    areas = [np.sum(evolve_level_set(phi, flow, 20, push=np.full(phi.shape, push)) <= 0) for push in (-1.0, 0.0, 1.0)]
    assert areas[0] > 1.3 * areas[1]
    assert areas[1] == pytest.approx(np.sum(phi <= 0), rel=0.02)
    assert areas[2] < 0.75 * areas[1]


def test_tails_make_the_outline_move_faster() -> None:
    phi = distance_function(disc((90, 90), 45, 45, 10))
    areas = [
        np.sum(evolve_level_set(phi, Flow(2.0, 0.02, tails=tails), 30, push=np.full(phi.shape, -1.0)) <= 0)
        for tails in (False, True)
    ]
    assert areas[1] > 1.2 * areas[0]


def test_distance_function() -> None:
    phi = distance_function(disc((60, 60), 30, 30, 12), limit=4)
    assert phi[30, 30] == -4 and phi[0, 0] == 4
    assert phi[30, 42] == -0.5 and phi[30, 43] == 0.5 and phi[30, 45] == 2.5


def test_length_makes_a_square_round_and_edges_hold_it() -> None:
    square = np.zeros((80, 80), bool)
    square[20:60, 20:60] = True
    phi, flow = step_function(square), Flow(1.0, 0.2, length=2.0)
    rounded = evolve_level_set(phi, flow, 60) <= 0
    assert not rounded[21, 21] and rounded[21, 40]
    held = evolve_level_set(phi, flow, 60, edge=edge_indicator(255.0 * square)) <= 0
    assert np.sum(held ^ square) < 0.2 * np.sum(rounded ^ square)


def test_the_function_becomes_a_distance_near_the_outline() -> None:
    phi = evolve_level_set(step_function(disc((90, 90), 45, 45, 25)), Flow(1.0, 0.2), 100)
    slope = np.hypot(*np.gradient(phi))[np.abs(phi) < 0.8]
    assert np.mean(np.abs(slope - 1)) < 0.1


def test_star_closes_what_cannot_be_seen_from_the_centre() -> None:
    cell = disc((90, 90), 45, 35, 20)
    bay = disc((90, 90), 45, 62, 14) & ~disc((90, 90), 45, 62, 9)  # A ring whose inside is a hole behind a wall.
    start = step_function(cell | bay)
    rows, columns = np.array([[45, 45], [58, 74]])  # In the hole, and on the wall behind it.
    assert start[rows, columns].tolist() == [2, -2]
    moved = evolve_level_set(start, Flow(0.5, 0.2, star=1.5), 300, centre=(45, 35))
    assert np.ptp(np.sign(moved[rows, columns])) == 0


def test_a_function_without_outline_stays() -> None:
    for value in (-2.0, 2.0):
        phi = np.full((20, 30), value)
        assert np.array_equal(evolve_level_set(phi, Flow(1.0, 0.2), 10, push=np.ones(phi.shape)), phi)


@pytest.mark.parametrize(
    "weights", [{"step": 0}, {"step": 3}, {"width": 0}, {"regularity": -1}, {"length": -1}, {"star": 2}]
)
def test_flows_that_cannot_be_stable_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="a flow has"):
        Flow(**{"step": 1.0, "regularity": 0.2, **weights})


@pytest.mark.parametrize("tails", [False, True])
def test_smooth_step_and_its_derivative(tails: bool) -> None:
    x = np.linspace(-2, 2, 4001)
    np.testing.assert_allclose(np.gradient(heaviside(x, 1.5, tails), x), dirac(x, 1.5, tails), atol=2e-3)
    assert heaviside(np.array([-9.0]), 1.5, tails)[0] == pytest.approx(0.0526 if tails else 0, abs=1e-3)
    np.testing.assert_allclose(heaviside(np.array([-3, -1.5, 0, 1.5]), 1.5), [0, 0, 0.5, 1], atol=1e-15)


def test_double_well_is_at_rest_at_slope_one() -> None:
    np.testing.assert_allclose(diffusion(np.array([0.0, 0.5, 1.0, 2.0])), [1, 0, 0, 0.5], atol=1e-12)


def test_largest_piece_and_window() -> None:
    mask = np.zeros((20, 30), bool)
    mask[2:4, 2:4] = mask[10:15, 10:18] = True
    piece = largest_piece(mask)
    assert piece.sum() == 40 and piece[12, 12]
    assert find_window(piece, 3) == (slice(7, 18), slice(7, 21))
    assert find_window(mask, 15) == (slice(0, 20), slice(0, 30))
