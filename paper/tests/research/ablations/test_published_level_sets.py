from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump.shapes.contours import resample
from declump.shapes.prior import ShapePrior, add_turned_copies
from declump_paper.research.ablations.published_level_sets import Hypotheses, segment_by_lsf, segment_by_mcl
from paper_support.level_set_clumps import dices, picture_of, regions_of, three_ellipses, two_discs

ANGLES = 2 * np.pi * np.arange(72) / 72


@pytest.fixture(scope="module")
def ellipses() -> ShapePrior:
    """Ellipses of all directions and some lengths, mean radius about 20."""
    radii = [20 / np.hypot(np.cos(ANGLES) / ratio, np.sin(ANGLES) * ratio) for ratio in (1.05, 1.15, 1.25, 1.35)]
    return ShapePrior.fit(add_turned_copies(np.array(radii)))


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 3.0), st.integers(0, 71), st.integers(0, 2**16))
def test_a_hypothesis_is_found_again_whatever_its_size_and_rotation(ellipses, size, turn, number):
    draws = np.random.default_rng(number).uniform(-1, 1, ellipses.variances.size)
    outline = size * np.roll(ellipses.instance(draws * np.sqrt(ellipses.variances)), turn)
    found = Hypotheses.of(ellipses).fit(outline, np.zeros(72, dtype=np.bool_))
    assert np.abs(found - outline).max() < 0.05 * outline.mean()


def test_open_ended_rays_may_be_exceeded(ellipses):
    whole = ellipses.mean.copy()
    cut = whole.copy()
    cut[:18] *= 0.6
    hidden = np.zeros(72, dtype=np.bool_)
    hidden[:18] = True
    shapes = Hypotheses.of(ellipses)
    free, bound = shapes.fit(cut, hidden), shapes.fit(cut, np.zeros(72, dtype=np.bool_))
    assert np.abs(free - whole).mean() < np.abs(bound - whole).mean()


@pytest.mark.parametrize("method", [segment_by_lsf, segment_by_mcl])
@pytest.mark.parametrize("cells", [two_discs(), three_ellipses()], ids=["two", "three"])
def test_overlapping_cells_are_found(method, cells, ellipses):
    prior = ShapePrior(resample(ellipses.mean[None], 72)[0], ellipses.modes, ellipses.variances)
    found = method(picture_of(cells), regions_of(cells), prior)
    assert found.masks.shape == cells.shape
    assert dices(found.masks, cells).min() > 0.8


def test_a_single_cell_is_its_clump(ellipses):
    cells = two_discs()[:1]
    found = segment_by_lsf(picture_of(cells), regions_of(cells), ellipses)
    assert dices(found.masks, cells)[0] > 0.97
