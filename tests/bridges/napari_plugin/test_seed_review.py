from __future__ import annotations

import numpy as np
import pytest

import declump
from declump.batch.options import Options
from declump.bridges.napari_plugin.seed_review import Cancelled, SeedReview
from declump.review.edits import AddSeed, DeleteCell, MoveSeed


@pytest.fixture(scope="module")
def image():
    return declump.simulate.smear((320, 480), cells=6, clumps=2, rng=5).image


@pytest.fixture
def review(image):
    found = SeedReview(image, Options(evidence="clump"))
    found.evolve()
    return found


def test_cells_are_those_of_a_review(review, image):
    expected = declump.segment(image, evidence="clump")
    assert np.array_equal(review.result.radii, expected.radii) and np.array_equal(review.result.nuclei, expected.nuclei)
    assert review.numbers == list(range(1, len(expected) + 1)) and len(expected) > 3


def test_points_tell_what_was_done(review):
    points, numbers = review.result.seeds.copy(), np.array(review.numbers, dtype=float)
    assert review.find_edits(points, numbers) == []
    points[1] += (0, 9)
    added = np.vstack([points[1:], [(10.0, 11.0)]])
    # napari gives the new point the features of an old one.
    edits = review.find_edits(added, np.append(numbers[1:], numbers[2]))
    assert edits == [DeleteCell(1), MoveSeed(2, *points[1]), AddSeed(10.0, 11.0)]
    assert review.find_edits(np.zeros((1, 2)), [np.nan])[-1] == AddSeed(0.0, 0.0)


def test_an_edit_changes_one_clump_only(review):
    before, numbers = review.result, list(review.numbers)
    target = numbers.index(2)
    own = before.clump[target]
    assert 0 < np.count_nonzero(before.clump == own) < len(before)
    assert review.make([DeleteCell(2)]) == []
    review.evolve()
    after = dict(zip(review.numbers, review.result.radii, strict=True))
    changed = {number for row, number in enumerate(numbers) if not np.array_equal(after.get(number), before.radii[row])}
    assert 2 in changed and {before.clump[numbers.index(number)] for number in changed} == {own}


def test_what_cannot_be_done_is_said_and_the_rest_is_done(review):
    (reason,) = review.make([AddSeed(-50.0, 3.0), DeleteCell(1)])
    assert "outside the image" in reason
    review.evolve()
    assert 1 not in review.numbers


def test_a_cancelled_evolution_leaves_the_last_result(review):
    before = review.result
    review.make([DeleteCell(1)])
    with pytest.raises(Cancelled):
        review.evolve(lambda: True)
    assert review.result is before
