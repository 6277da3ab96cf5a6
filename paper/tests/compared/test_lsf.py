from __future__ import annotations

import numpy as np
import pytest

from declump.records.clump import split_clumps
from declump.regions import Regions
from declump_paper.compared import find_method
from declump_paper.compared.lsf import length_weights, lsf, neighbours
from declump_paper.compared.sharing import (
    FirstCell,
    bridge_radii,
    inner_radius,
    is_linked,
    outline_owners,
    outline_pixels,
    share_outline,
)
from paper_support.level_set_clumps import dices, ellipse, nuclei_of, picture_of, regions_of, three_ellipses, two_discs


@pytest.mark.parametrize(("cells", "least"), [(two_discs(), 0.93), (three_ellipses(), 0.86)], ids=["two", "three"])
def test_overlapping_cells_come_out_whole(cells: np.ndarray, least: float) -> None:
    result = lsf(picture_of(cells), regions_of(cells))
    assert dices(result.masks, cells).min() > least
    assert [record.stopped for record in result.clumps] == ["masks"]


def test_the_only_cell_of_a_clump_is_the_clump() -> None:
    cells = ellipse((80, 90), 40, 45, 30, 22, 0.5)[None]
    assert dices(lsf(picture_of(cells), regions_of(cells)).masks, cells).min() > 0.98


def test_a_clump_with_one_nucleus_and_one_with_two() -> None:
    cells = np.zeros((3, 120, 240), bool)
    cells[:2, :100, :140] = two_discs()
    cells[2] = ellipse((120, 240), 60, 195, 28, 24, 0)
    result = lsf(picture_of(cells), regions_of(cells))
    assert dices(result.masks, cells).min() > 0.92
    assert result.clump.tolist() == [0, 0, 1]


def test_cells_at_the_image_border() -> None:
    cells = two_discs()[:, 30:, 30:]
    result = lsf(picture_of(cells), regions_of(cells))
    assert dices(result.masks, cells).min() > 0.9


def test_no_cells_and_seeds_outside() -> None:
    empty = np.zeros((40, 50), bool)
    assert len(lsf(np.full((40, 50), 200, np.uint8), Regions(empty, empty))) == 0
    cells = two_discs()
    nuclei = nuclei_of(cells)
    nuclei[2:6, 2:6] = 3
    result = lsf(picture_of(cells), Regions(cells.any(axis=0), nuclei))
    assert len(result) == 3 and not result.radii[2].any() and result.clump[2] == -1
    assert dices(result.masks[:2], cells).min() > 0.93


def test_the_same_input_gives_the_same_bytes_and_progress_ends() -> None:
    cells, calls = three_ellipses(), []
    image, regions = picture_of(cells), regions_of(cells)
    first = find_method("lsf")(image, regions, progress=lambda done, total: calls.append((done, total)))
    assert first.radii.tobytes() == lsf(image, regions).radii.tobytes()
    assert calls == [(3, 3)]


def test_regions_of_another_image_are_refused() -> None:
    with pytest.raises(ValueError, match="another image"):
        lsf(np.zeros((5, 5), np.uint8), regions_of(two_discs()))


def test_outline_goes_to_the_nearest_nucleus_it_sees() -> None:
    clump = np.zeros((60, 60), bool)
    clump[10:50, 10:20] = clump[40:50, 10:50] = clump[10:50, 40:50] = True  # A U: its arms do not see each other.
    centres = np.array([[15.0, 14.0], [45.0, 44.0]])
    outline = outline_pixels(clump)
    owner = outline_owners(clump, outline, centres)
    tip = np.flatnonzero((outline == (10, 40)).all(axis=1))[0]
    assert np.hypot(*(outline[tip] - centres[0])) < np.hypot(*(outline[tip] - centres[1]))
    assert not is_linked(clump, outline[tip], centres[0])
    assert owner[tip] == 1


def test_hidden_sides_are_bridged_by_radii_linear_in_the_angle() -> None:
    radii = bridge_radii(np.array([[0.0, 9.5], [19.5, 0.0]]))
    assert radii[0] == 10 and radii[90] == 20
    np.testing.assert_allclose(radii[45], 15)
    np.testing.assert_allclose(radii[225], 15)


def test_a_cell_without_outline_is_a_circle() -> None:
    assert inner_radius(np.array([[0, 0], [0, 10], [30, 0]]), 0) == pytest.approx(7)
    clump = ellipse((120, 120), 60, 60, 50, 50, 0)
    seeds = [(60, 60), (60, 20), (60, 100), (20, 60), (100, 60)]
    (only,) = split_clumps(clump, seeds)
    cells = share_outline(only)
    outline = outline_pixels(only.mask)
    assert (outline_owners(only.mask, outline, only.seeds.astype(float)) != 0).all()
    assert cells[0].mask.sum() == pytest.approx(np.pi * 28**2, rel=0.25)
    assert all(cell.mask[tuple(seed)] for cell, seed in zip(cells, only.seeds, strict=True))


def test_length_weighs_less_towards_outlines() -> None:
    cells = two_discs()
    clump = cells.any(axis=0)
    firsts = [FirstCell((50, 48), cells[0]), FirstCell((50, 92), cells[1])]
    weights = length_weights(clump, firsts, cells)
    assert weights[50, 48] == pytest.approx(1, abs=0.01) and weights[5, 5] == 1
    assert weights[50, 17] < 0.05 and weights[50, 75] > weights[50, 20]
    assert (np.diff(weights[50, 17:48]) > 0).all()


def test_neighbours_overlap_or_lie_within_five_pixels() -> None:
    masks = np.zeros((4, 40, 80), bool)
    masks[0, 10:30, 5:25] = masks[1, 10:30, 20:40] = masks[2, 10:30, 44:50] = masks[3, 10:30, 60:70] = True
    assert [neighbours(masks, index) for index in range(4)] == [[1], [0, 2], [1], []]
