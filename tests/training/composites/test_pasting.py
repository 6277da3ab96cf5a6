from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from declump.training.composites.cutouts import CutOut
from declump.training.composites.pasting import lay, transform


def thing(channels: int = 1) -> CutOut:
    rows, columns = np.mgrid[:40, :50]
    cell = np.hypot(rows - 20, columns - 25) < 15
    nucleus = np.hypot(rows - 20, columns - 22) < 5
    light = np.repeat(np.where(nucleus, 0.3, np.where(cell, 0.7, 1.0))[..., None], channels, axis=2)
    return CutOut(light.astype(np.float32), cell, nucleus)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_what_is_turned_and_stretched_keeps_its_parts(seed: int) -> None:
    cut, moved = thing(), transform(thing(), np.random.default_rng(seed))
    assert (moved.nucleus <= moved.cell).all()
    assert 0.6 < moved.cell.sum() / cut.cell.sum() < 1.6
    edge = np.ones(moved.cell.shape, bool)
    edge[1:-1, 1:-1] = False
    assert not moved.cell[edge].any() and (moved.light[edge] > 0.99).all()
    assert moved.light[moved.nucleus].mean() < moved.light[moved.cell & ~moved.nucleus].mean() < 1


@settings(max_examples=30, deadline=None)
@given(row=st.integers(-60, 160), column=st.integers(-60, 160))
def test_light_passes_through_all_that_is_laid_and_nothing_else_changes(row: int, column: int) -> None:
    factor = np.full((100, 120, 1), 0.5, np.float32)
    laid = lay(factor, thing(), (row, column))
    if laid is None:
        assert (factor == 0.5).all()
        return
    beyond = np.ones(factor.shape[:2], bool)
    beyond[laid.window] = False
    assert (factor[beyond] == 0.5).all()
    assert np.allclose(factor[laid.window][laid.nucleus], 0.15) and laid.cell.shape == factor[laid.window].shape[:2]


def test_a_grey_frame_takes_the_mean_light_of_colour_and_colour_takes_grey() -> None:
    colour, grey = np.ones((60, 60, 3), np.float32), np.ones((60, 60, 1), np.float32)
    assert lay(colour, thing(1), (30, 30)) is not None and lay(grey, thing(3), (30, 30)) is not None
    np.testing.assert_allclose(colour[..., 0], grey[..., 0], rtol=1e-6)
