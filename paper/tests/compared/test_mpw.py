from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.records.clump import split_clumps
from declump.shapes import contours
from declump_paper.compared.edges import inner_gradient
from declump_paper.compared.ellipses import ellipse_radii
from declump_paper.compared.mpw import mpw, nucleus_markers, second_pass, third_pass
from paper_support.level_set_clumps import dices, ellipse, picture_of, regions_of, three_ellipses, two_discs


@pytest.mark.parametrize(("cells", "least"), [(two_discs(), 0.95), (three_ellipses(), 0.9)], ids=["two", "three"])
def test_overlapping_cells_come_out_whole(cells: np.ndarray, least: float) -> None:
    result = mpw(picture_of(cells), regions_of(cells))
    assert dices(result.masks, cells).min() > least
    assert (result.masks.sum(axis=0) > 1).any()


def test_the_second_pass_shares_out_and_the_third_overlaps() -> None:
    cells = two_discs()
    regions = regions_of(cells)
    (clump,) = split_clumps(np.pad(regions.clump, 8), regions.seeds + 8)
    markers = nucleus_markers(clump, np.pad(regions.nuclei, 8)[_crop(clump)])
    flat = np.zeros(clump.mask.shape)
    territories = second_pass(clump, flat, markers, 32.0)
    assert ((territories > 0) == clump.mask).all()
    # Without edges the line runs half way: both get as much.
    sizes = np.bincount(territories.ravel())[1:]
    assert abs(int(sizes[0]) - int(sizes[1])) < 0.05 * sizes.sum()
    masks = third_pass(clump, flat, markers, 32.0)
    assert (masks.sum(axis=0) > 1).any() and not (masks & ~clump.mask).any()
    assert all(masks[index][tuple(seed)] for index, seed in enumerate(clump.seeds))


def test_watersheds_keep_to_edges() -> None:
    """A wall off the middle moves the line from half way to the wall."""
    cells = two_discs()
    regions = regions_of(cells)
    (clump,) = split_clumps(np.pad(regions.clump, 8), regions.seeds + 8)
    markers = nucleus_markers(clump, np.pad(regions.nuclei, 8)[_crop(clump)])
    walled = np.zeros(clump.mask.shape)
    wall = int(clump.seeds[:, 1].mean()) + 8
    walled[:, wall] = 1.0
    sizes = np.bincount(second_pass(clump, walled, markers, 32.0).ravel())[1:]
    left = np.count_nonzero(clump.mask[:, :wall])
    assert abs(int(sizes.max()) - left) < 0.03 * clump.size


def _crop(clump: object) -> tuple[slice, slice]:
    (top, left), (height, width) = clump.origin, clump.mask.shape
    return slice(top, top + height), slice(left, left + width)


@given(
    long=st.floats(20, 60), ratio=st.floats(0.4, 1), turn=st.floats(0, 3.1),
    off=st.floats(0, 0.5), towards=st.floats(0, 6.2), hidden=st.integers(0, 120),
)  # fmt: skip
def test_an_ellipse_is_found_from_points_on_it(
    long: float, ratio: float, turn: float, off: float, towards: float, hidden: int
) -> None:
    """Seen from any point inside, also if a third of it is not seen at all."""
    angles = 2 * np.pi * np.arange(360) / 360
    short = ratio * long
    centre = off * short * np.array([np.cos(towards), np.sin(towards)])
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) / np.array([[long], [short]])
    direction = rotation @ np.stack([np.cos(angles), np.sin(angles)])
    start = (rotation @ -centre)[:, None]
    second, first, rest = (direction**2).sum(axis=0), 2 * (direction * start).sum(axis=0), (start**2).sum() - 1
    radii = (-first + np.sqrt(first**2 - 4 * second * rest)) / (2 * second)
    given_radii, weights = radii.copy(), np.ones(360)
    given_radii[:hidden], weights[:hidden] = 1.0, 0.0
    found = ellipse_radii(given_radii, weights)
    assert found is not None and np.allclose(found, radii, rtol=1e-3)


def test_no_ellipse_where_none_fits() -> None:
    radii, weights = np.full(360, 30.0), np.zeros(360)
    assert ellipse_radii(radii, weights) is None
    # An arc far from the seed, curved away from it, is part of no ellipse round the seed.
    angles = np.radians(np.arange(360))
    away = 100 / np.maximum(np.cos(angles), 0.5)
    arc = np.where(np.cos(angles) > 0.8, away - 20 * np.cos(8 * angles), 10.0)
    assert ellipse_radii(arc, np.where(np.cos(angles) > 0.8, 1.0, 0.0)) is None


def test_edges_are_those_of_the_cytoplasm() -> None:
    """Neither the outline of the clump nor a nucleus is an edge; the end of a layer is, towards the light."""
    shape = (80, 120)
    clump, nucleus = ellipse(shape, 40, 60, 50, 30, 0), ellipse(shape, 40, 40, 6, 6, 0)
    grey = np.where(clump, 150.0, 250.0)
    grey[nucleus] = 30
    assert not inner_gradient(grey, clump, nucleus, 50.0).any()
    grey[:, 70:] -= 50 * clump[:, 70:]
    rows, columns = inner_gradient(grey, clump, nucleus, 50.0)
    assert columns[40, 69] < -0.9 and abs(columns[40, 50]) < 1e-6 and np.abs(rows[40]).max() < 1e-6
    brighter = inner_gradient(10 * grey + 3, clump, nucleus, 50.0)
    assert np.allclose(brighter, [rows, columns])
    assert not inner_gradient(grey, np.zeros(shape, bool), nucleus, 50.0).any()


def test_outlines_are_star_shaped_masks() -> None:
    """What the segmentation keeps, seeds and radii, is all there is of a mask."""
    cells = three_ellipses()
    result = mpw(picture_of(cells), regions_of(cells))
    for index in range(len(result)):
        drawn = contours.to_mask(result.seeds[index], result.radii[index], result.shape)
        assert (drawn == result.mask(index)).all()
