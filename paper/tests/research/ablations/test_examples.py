"""Selection among a finite set of examples: the paper's ablation F."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import declump
from declump.evolution.energy import hard_discrepancy
from declump.evolution.polar import make_polar_table
from declump.evolution.settings import SETTINGS
from declump.records.clump import split_clumps
from declump.shapes import contours
from declump.shapes.prior import ShapePrior
from declump_paper.evolution.cover import sum_scores_by_masks
from declump_paper.evolution.scores import sum_pixel_scores
from declump_paper.research.ablations.examples import evolve_clump_by_examples

RAYS = 48
ANGLES = 2 * np.pi * np.arange(RAYS) / RAYS
FINITE = replace(SETTINGS["paper"], explained=0.0)
SHAPES = np.stack(
    [
        np.full(RAYS, 20.0),
        20 + 8 * np.cos(2 * ANGLES),
        20 + 5 * np.cos(3 * ANGLES),
        20 + 6 * np.cos(ANGLES),
    ]
)


def prior_of(shapes: np.ndarray) -> ShapePrior:
    return replace(ShapePrior.fit(shapes), examples=shapes)


@given(
    st.integers(0, 2**32 - 1),
    st.tuples(st.integers(0, 39), st.integers(0, 49)),
    st.integers(1, 4),
    st.floats(0.5, 30),
)
def test_the_kernel_sums_what_its_twin_sums(seed: int, place: tuple[int, int], count: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    pixel_scores = rng.integers(-1, 2, (40, 50)).astype(np.int8)
    radii = size * rng.uniform(0.3, 1.0, (count, RAYS))
    sums = sum_pixel_scores(pixel_scores, *place, radii, *contours.directions(RAYS), make_polar_table(RAYS, 32))
    np.testing.assert_array_equal(sums, sum_scores_by_masks(pixel_scores, np.array(place), radii))


def test_cells_that_are_examples_are_found_again() -> None:
    seeds = np.array([(60, 60), (70, 95)])
    turned = [contours.rotate(SHAPES[1], ANGLES[9]), contours.rotate(SHAPES[2], ANGLES[30])]
    masks = np.stack([contours.to_mask(seed, shape, (130, 150)) for seed, shape in zip(seeds, turned, strict=True)])
    how = {"prior": prior_of(SHAPES), "setting": FINITE, "solver": evolve_clump_by_examples}
    found = declump.evolve(masks.any(axis=0), seeds, scale=1.0, **how)
    assert declump.score(masks, found.masks, matching="order").dice.min() > 0.93
    assert found.energy[0] < 0.06 * masks.any(axis=0).sum()


@pytest.fixture(scope="module")
def clump() -> declump.records.clump.Clump:
    rows, columns = np.mgrid[:140, :170]
    mask = np.zeros((140, 170), bool)
    for row, column, radius in ((50, 60, 30), (70, 100, 34), (90, 60, 26)):
        mask |= np.hypot(rows - row, columns - column) < radius
    return split_clumps(mask, [(50, 60), (70, 100), (90, 60)])[0]


def test_no_single_change_lowers_the_discrepancy_in_the_end(clump: declump.records.clump.Clump) -> None:
    result = evolve_clump_by_examples(clump, prior_of(SHAPES), FINITE, scale=1.2)
    assert result.stopped == "no decrease"
    assert list(result.history) == sorted(set(result.history), reverse=True)
    assert result.history[-1] == hard_discrepancy(clump.mask, clump.seeds, result.radii)
    from declump.shapes.alignment import largest_copy

    for cell, seed in enumerate(clump.seeds):
        exits = contours.first_exits(clump.mask, seed, RAYS)
        for shape in 1.2 * SHAPES:
            scale, rotation = largest_copy(shape, exits)
            tried = result.radii.copy()
            tried[cell] = scale * np.roll(shape, round(rotation * RAYS / (2 * np.pi)))
            assert hard_discrepancy(clump.mask, clump.seeds, tried) >= result.history[-1]


def test_more_examples_never_explain_less_for_a_single_cell() -> None:
    mask = contours.to_mask((40, 45), 22 + 6 * np.cos(2 * ANGLES + 0.4), (80, 90))
    clump = split_clumps(mask, [(40, 45)])[0]
    left = [evolve_clump_by_examples(clump, prior_of(SHAPES[:count]), FINITE).history[-1] for count in (2, 3, 4)]
    assert left == sorted(left, reverse=True)


def test_it_stops_when_enough_is_explained(clump: declump.records.clump.Clump) -> None:
    easy = evolve_clump_by_examples(clump, prior_of(SHAPES), replace(FINITE, explained=0.9), scale=1.2)
    assert (easy.stopped, len(easy.history)) == ("explained", 1)


def test_a_prior_without_examples_is_refused(clump: declump.records.clump.Clump) -> None:
    with pytest.raises(ValueError, match="keeps no examples"):
        evolve_clump_by_examples(clump, ShapePrior.fit(SHAPES), FINITE)


def test_examples_survive_the_file_and_only_then_are_in_it(tmp_path) -> None:
    prior_of(SHAPES).save(tmp_path / "with.npz")
    ShapePrior.fit(SHAPES).save(tmp_path / "without.npz")
    np.testing.assert_array_equal(ShapePrior.load(tmp_path / "with.npz").examples, SHAPES)
    assert ShapePrior.load(tmp_path / "without.npz").examples is None
    assert "examples" not in np.load(tmp_path / "without.npz").files
    with pytest.raises(ValueError, match="examples of a prior"):
        replace(ShapePrior.fit(SHAPES), examples=SHAPES[:, :-1])
