from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import declump
from declump.evolution.energy import hard_discrepancy
from declump.evolution.settings import SETTINGS
from declump.evolution.snapping import snap_to_boundary
from declump.shapes import contours

SHAPE = (120, 160)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]


def disc(row: float, column: float, radius: float) -> np.ndarray:
    return np.hypot(ROWS - row, COLUMNS - column) < radius


def test_a_lone_outline_becomes_that_of_its_clump():
    mask = disc(60, 80, 40)
    seeds = np.array([(60, 80)])
    for radius in (37.0, 42.0):
        radii = snap_to_boundary(mask, seeds, np.full((1, 90), radius), 0.2)
        assert np.abs(radii - 40).max() < 0.8
        assert hard_discrepancy(mask, seeds, radii) < 30


def test_an_outline_far_from_the_edge_stays():
    radii = np.full((1, 90), 25.0)
    assert (snap_to_boundary(disc(60, 80, 40), np.array([(60, 80)]), radii, 0.2) == radii).all()


def test_what_another_cell_covers_is_not_taken_but_what_sticks_out_is_drawn_back():
    mask = disc(60, 60, 30) | disc(60, 90, 30)
    seeds = np.array([(60, 60), (60, 90)])
    short = np.full((2, 90), 30.0)
    short[0] = 27
    radii = snap_to_boundary(mask, seeds, short, 0.4)
    towards_other = 0  # the ray along +column ends inside the second cell
    assert radii[0, towards_other] == 27
    assert radii[0, 45] == pytest.approx(30, abs=0.8)
    long = np.full((2, 90), 32.0)
    assert snap_to_boundary(mask, seeds, long, 0.4)[0, 45] == pytest.approx(30, abs=0.8)


def test_what_the_image_border_cuts_stays():
    mask = disc(60, 10, 40)
    radii = snap_to_boundary(mask, np.array([(60, 10)]), np.full((1, 90), 38.0), 0.2)
    assert radii[0, 45] == 38
    assert radii[0, 0] == pytest.approx(40, abs=0.8)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_radii_move_towards_the_edge_and_never_past_it(number):
    rng = np.random.default_rng(number)
    mask = np.zeros(SHAPE, bool)
    for _ in range(rng.integers(1, 4)):
        mask |= disc(*rng.uniform((30, 40), (90, 120)), rng.uniform(15, 40))
    seeds = rng.permutation(np.argwhere(mask))[: rng.integers(1, 5)]
    radii = rng.uniform(1, 50, (len(seeds), 1)) * (1 + 0.2 * rng.random((len(seeds), 90)))
    moved = snap_to_boundary(mask, seeds, radii, 0.3)
    for seed, before, after in zip(seeds, radii, moved, strict=True):
        exits = np.maximum(contours.first_exits(mask, seed, 90), contours.MIN_RADIUS)
        assert (np.abs(exits - after) <= np.abs(exits - before) + 1e-9)[np.isfinite(exits)].all()
        assert ((after - exits) * (before - exits) >= -1e-9)[np.isfinite(exits)].all()
        assert (after == before)[np.isinf(exits)].all()
        assert np.abs(after - before).max() <= 0.3 * before.mean()


def test_following_explains_a_clump_no_worse_and_is_left_out_when_not_asked_for():
    smear = declump.simulate.smear((300, 300), cells=5, overlap=0.4, rng=3)
    plain = replace(SETTINGS["joint"], snap=0.0)
    before, after = (declump.evolve(smear.clump, smear.seeds, setting=setting) for setting in (plain, "joint"))
    assert (after.energy <= before.energy).all()
    assert after.energy.sum() < before.energy.sum()
    assert SETTINGS["paper"].snap == 0
    assert declump.score(smear.cells, after.masks).dice_all > declump.score(smear.cells, before.masks).dice_all
