from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import declump
from declump.evolution.claims import keep_claimed
from declump.evolution.settings import SETTINGS
from declump.records.clump import split_clumps
from declump.records.evidence import Evidence
from declump_paper.pictures.growth import record_growth

SHAPE = (140, 260)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]
SIZE = 40.0
JOINT = SETTINGS["joint"]


def disc(row: float, column: float, radius: float) -> np.ndarray:
    return np.hypot(ROWS - row, COLUMNS - column) < radius


def propose(radius: float, std: float, cells: int = 1) -> Evidence:
    return Evidence(radii=np.full((cells, 64), radius), radii_std=np.full((cells, 64), std))


TWO = disc(70, 70, SIZE) | disc(70, 135, SIZE)
"""Two cells, of which the seed of the first alone is known."""
SEED = [(70, 70)]


def test_a_cell_does_not_grow_to_explain_one_that_is_not_known():
    alone = disc(70, 70, SIZE)
    kept = declump.evolve(TWO, SEED, evidence=propose(SIZE, 4.0), scale=1.0)
    wide = declump.evolve(TWO, SEED, evidence=propose(SIZE, 4.0), scale=1.0, setting=replace(JOINT, claim=np.inf))
    found, grown = (declump.score(alone[None], result.masks).dice[0] for result in (kept, wide))
    assert found > 0.95
    assert found > grown + 0.01


def test_what_nobody_claims_counts_as_unexplained():
    result = declump.evolve(TWO, SEED, evidence=propose(SIZE, 4.0), scale=1.0)
    (clump,) = split_clumps(TWO, SEED)
    assert result.clumps[0].size == TWO.sum()
    assert result.clumps[0].energy == clump.with_room(60).discrepancy(result.radii)
    assert min(result.clumps[0].history) > 0.25 * TWO.sum()


def test_the_growth_counts_as_the_result_does():
    evidence = propose(SIZE, 4.0)
    growth = record_growth(TWO, SEED, evidence=evidence)
    result = declump.evolve(TWO, SEED, evidence=evidence)
    assert growth.history == result.clumps[0].history
    assert np.allclose(growth.radii[-1], result.radii)


@pytest.mark.parametrize(
    "evidence",
    [
        None,
        propose(SIZE, np.inf),
        propose(SIZE, 70.0),
    ],
)
def test_all_of_a_clump_is_claimed_where_outlines_may_lie_anywhere(evidence):
    (clump,) = split_clumps(TWO, SEED)
    assert keep_claimed(clump, evidence, JOINT, SIZE) is clump


def test_all_of_a_clump_is_claimed_beside_a_cell_of_which_nothing_is_known():
    (clump,) = split_clumps(TWO, [(70, 70), (70, 135)])
    evidence = propose(SIZE, 4.0).add_unknown(1)
    assert keep_claimed(clump, evidence, JOINT, SIZE) is clump
    assert keep_claimed(clump, propose(SIZE / 2, 1.0, cells=2), JOINT, SIZE).size < clump.size


def test_the_settings_of_the_paper_leave_nothing_out():
    (clump,) = split_clumps(TWO, SEED)
    assert keep_claimed(clump, propose(SIZE, 4.0), SETTINGS["paper"], SIZE) is clump


def test_what_a_person_drew_is_claimed_and_goes_before_proposals():
    (clump,) = split_clumps(TWO, SEED)
    drawn = Evidence(
        radii=np.full((1, 64), SIZE), radii_std=np.full((1, 64), 4.0),
        drawn=np.full((1, 64), 120.0), drawn_std=np.full((1, 64), 2.0),
    )  # fmt: skip
    assert keep_claimed(clump, drawn, JOINT, SIZE) is clump
    nothing_drawn = replace(drawn, drawn_std=np.full((1, 64), np.inf))
    by_proposals = keep_claimed(clump, propose(SIZE, 4.0), JOINT, SIZE)
    assert np.array_equal(keep_claimed(clump, nothing_drawn, JOINT, SIZE).mask, by_proposals.mask)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(0, 3), st.floats(0, 3))
def test_claims_lie_in_the_clump_hold_all_seeds_and_grow_with_doubt(number, first, second):
    rng = np.random.default_rng(number)
    seeds = np.column_stack([rng.integers(40, 100, 3), rng.choice(np.arange(60, 200), 3, replace=False)])
    mask = np.logical_or.reduce([disc(*seed, rng.uniform(15, 40)) for seed in seeds])
    evidence = Evidence(radii=rng.uniform(0, 60, (3, 64)), radii_std=rng.uniform(0.1, 20, (3, 64)))
    for clump in split_clumps(mask, seeds):
        less, more = (
            keep_claimed(clump, evidence, replace(JOINT, claim=claim), SIZE) for claim in sorted((first, second))
        )
        assert not (less.mask & ~more.mask).any() and not (more.mask & ~clump.mask).any()
        assert less.mask[tuple(clump.seeds.T)].all()
        assert less.origin == clump.origin and np.array_equal(less.cells, clump.cells)
