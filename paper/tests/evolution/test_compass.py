"""The search without derivatives lowers the discrepancy, until there is nothing left to find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump import simulate
from declump.evolution.evolve import evolve
from declump.evolution.objective import ClumpObjective
from declump.evolution.settings import SETTINGS
from declump.evolution.trust_region import descend, evolve_clump
from declump.records.clump import Clump, split_clumps
from declump.shapes.prior import ShapePrior
from declump_paper.evolution.aligned import evolve_clump_aligned_each_time
from declump_paper.evolution.compass import SIZES, search_compass
from declump_paper.evolution.objective import AlignedObjective

ONCE = replace(SETTINGS["paper"], explained=0.0)


@pytest.fixture(scope="module")
def clump() -> Clump:
    smear = simulate.smear((220, 220), cells=4, clumps=1, radius=34, overlap=0.5, rng=5)
    return max(split_clumps(smear.clump, smear.seeds), key=lambda clump: len(clump.cells)).with_room(60)


@pytest.fixture(scope="module")
def prior() -> ShapePrior:
    return ShapePrior.load("default")


def test_every_call_lowers_the_discrepancy_until_nothing_is_found(clump: Clump, prior: ShapePrior) -> None:
    objective = AlignedObjective(clump, prior, ONCE, 0.6)
    state, found = objective.start(), 0
    while found < 100 and (better := search_compass(objective, state)) is not None:
        assert better.energy < state.energy
        assert better.energy == objective.hard_discrepancy(better.radii)
        state, found = better, found + 1
    assert found > 0 and search_compass(objective, state) is None
    # What it says: no single move of a single cell, of any length that is tried, lowers it.
    for cell in range(len(clump.cells)):
        for mode in range(state.parameters.shape[1] - 2):
            for length in (*SIZES, *(-size for size in SIZES)):
                step = np.zeros_like(state.parameters)
                step[cell, mode] = length
                assert objective.move(state, step).energy >= state.energy


def test_cells_are_aligned_one_by_one_as_together(clump: Clump, prior: ShapePrior) -> None:
    objective = AlignedObjective(clump, prior, ONCE, 0.6)
    parameters = np.zeros((len(clump.cells), prior.variances.size + 2))
    parameters[:, :-2] = np.random.default_rng(0).normal(0, 0.5, parameters[:, :-2].shape)
    together = objective.align(parameters)
    for cell in range(len(parameters)):
        if np.isfinite(objective.exits[cell]).all():
            np.testing.assert_array_equal(objective.align_cell(cell, parameters[cell, None])[0], together[cell])


def test_the_search_goes_further_than_the_trust_region_alone(clump: Clump, prior: ShapePrior) -> None:
    whole = evolve_clump_aligned_each_time(clump, prior, ONCE, scale=0.6)
    alone = descend(AlignedObjective(clump, prior, ONCE, 0.6))
    assert whole.history[-1] < alone.history[-1]
    assert all(np.diff(whole.history) < 0)


def test_it_solves_the_clumps_of_an_image(prior: ShapePrior) -> None:
    smear = simulate.smear((160, 160), cells=4, clumps=2, radius=24, overlap=0.4, rng=5)
    how = {"prior": prior, "setting": "paper"}
    each = evolve(smear.clump, smear.seeds, solver=evolve_clump_aligned_each_time, **how)
    once = evolve(smear.clump, smear.seeds, **how)
    assert each.masks.shape == once.masks.shape and (each.radii != once.radii).any()


def test_aligned_once_the_pose_stays_where_it_was(clump: Clump, prior: ShapePrior) -> None:
    start = ClumpObjective(clump, prior, ONCE, 0.6).start()
    result = evolve_clump(clump, prior, ONCE, scale=0.6)
    np.testing.assert_allclose(np.log(result.scales), start.parameters[:, -2] * 0.2, atol=1e-12)
    assert all(np.diff(result.history) < 0) and np.abs(result.coefficients).max() > 0
