from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump.records.segmentation import ClumpRecord, Segmentation
from declump.shapes import contours


def two_cells() -> Segmentation:
    """Two overlapping discs in one clump, a seed outside it, and a clump without a seed."""
    radii = np.array([[12.0], [10.0], [0.0]]) * np.ones(90)
    seeds = np.array([[20.0, 20.0], [20.0, 34.0], [3.0, 3.0]])
    records = (ClumpRecord(700, (90, 40, 12), "no decrease"), ClumpRecord(30, (30,), "no seed"))
    return Segmentation((50, 60), seeds, radii, np.array([0, 0, -1]), records)


def test_masks_are_the_filled_outlines():
    cells = two_cells()
    assert len(cells) == 3
    assert cells.masks.shape == (3, 50, 60)
    assert cells.masks.dtype == np.bool_
    for index in range(3):
        expected = contours.to_mask(cells.seeds[index], cells.radii[index], (50, 60))
        np.testing.assert_array_equal(cells.masks[index], expected)
        np.testing.assert_array_equal(cells.mask(index), expected)
    assert cells.masks[0][20, 27]
    assert cells.masks[1][20, 27]
    assert not cells.masks[2].any()


def test_masks_are_made_once():
    cells = two_cells()
    assert cells.masks is cells.masks


def test_some_cells_are_kept_and_numbered_anew():
    nuclei, second = np.zeros((2, 50, 60), np.int32)
    nuclei[18:24, 18:24], nuclei[18:22, 32:36], second[20:24, 20:24] = 1, 2, 3
    said = np.array([0.9, np.nan, 0.4])
    cells = replace(two_cells(), nuclei=nuclei, second_nuclei=second, nucleus_probability=said)
    kept = cells.keep(np.array([False, True, True]))
    assert len(kept) == 2 and (kept.seeds == cells.seeds[1:]).all() and kept.clumps == cells.clumps
    assert kept.nuclei[18, 33] == 1 and kept.nuclei[18, 18] == 0
    assert kept.nuclei[21, 21] == 2 and kept.second_nuclei is None
    np.testing.assert_array_equal(kept.nucleus_probability, said[1:])
    with pytest.raises(ValueError, match="truth value"):
        cells.keep(np.array([0, 1]))


def test_polygons_run_through_the_ends_of_the_radii():
    cells = two_cells()
    assert cells.polygons.shape == (3, 90, 2)
    for index in range(3):
        np.testing.assert_allclose(
            cells.polygons[index], contours.polygon(cells.seeds[index], cells.radii[index]), atol=1e-12
        )


def test_areas_count_also_what_lies_outside_the_image():
    cells = two_cells()
    np.testing.assert_allclose(cells.areas, np.pi * np.array([144, 100, 0]), rtol=2e-3)
    moved = replace(cells, seeds=cells.seeds - (20, 20))
    np.testing.assert_array_equal(moved.areas, cells.areas)
    assert moved.masks[0].sum() < 0.4 * cells.masks[0].sum()


def test_overlap_degree_is_that_of_the_outlines():
    cells = two_cells()
    apart, first, second = 14, 12, 10
    # Law of cosines in the triangle of the two seeds and a crossing of the outlines.
    hidden = np.arccos((apart**2 + first**2 - second**2) / (2 * apart * first)) / np.pi
    assert cells.overlap_degree[0] == pytest.approx(hidden, abs=2 / 90)
    np.testing.assert_array_equal(cells.overlap_degree, contours.overlap_degree(cells.seeds, cells.radii))
    assert cells.overlap_degree[2] == 0


def test_energy_is_the_last_discrepancy_of_every_clump():
    np.testing.assert_array_equal(two_cells().energy, [12, 30])
    assert two_cells().clumps[0].energy == 12


def test_a_segmentation_without_cells():
    empty = Segmentation((5, 6), np.empty((0, 2)), np.empty((0, 36)), np.empty(0, dtype=np.int64))
    assert len(empty) == 0
    assert empty.masks.shape == (0, 5, 6)
    assert empty.polygons.shape == (0, 36, 2)
    assert empty.areas.shape == empty.overlap_degree.shape == empty.energy.shape == (0,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": np.zeros((2, 2))}, "seeds"),
        ({"seeds": np.zeros((3, 3))}, "seeds"),
        ({"radii": np.zeros((2, 90))}, "radii"),
        ({"radii": np.zeros(3)}, "radii"),
        ({"clump": np.zeros(2, dtype=int)}, "clump"),
        ({"clump": np.array([0, 2, -1])}, "clump 2"),
        ({"seeds": np.full((3, 2), np.nan)}, "finite"),
        ({"radii": np.full((3, 90), np.inf)}, "finite"),
        ({"radii": -np.ones((3, 90))}, "negative"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(two_cells(), **changes)


def test_masks_of_another_method_become_a_segmentation():
    rows, columns = np.mgrid[:60, :90]
    masks = np.stack([np.hypot(rows - 30, columns - column) < 20 for column in (30, 52)])
    masks = np.concatenate([masks, np.zeros((1, 60, 90), bool)])
    clump = masks.any(axis=0)
    clump[2:5, 80:84] = True
    found = Segmentation.from_masks(masks, [(30, 30), (30, 52), (3, 81)], clump=clump)
    assert np.count_nonzero(found.masks[:2] != masks[:2]) <= 4
    assert not found.masks[2].any()
    assert found.clump.tolist() == [1, 1, 0]
    assert [record.stopped for record in found.clumps] == ["masks", "masks"]
    assert found.energy.tolist() == [12, int(np.count_nonzero(found.masks.any(axis=0) != masks.any(axis=0)))]


@pytest.mark.parametrize(
    ("masks", "seeds", "clump", "message"),
    [
        (np.zeros((1, 9, 9)), [(4, 4)], None, "bool"),
        (np.zeros((2, 9, 9), bool), [(4, 4)], None, "2 masks and 1 seeds"),
        (np.zeros((1, 9, 9), bool), [(4, 4)], np.zeros((8, 9), bool), "another image"),
    ],
)
def test_masks_that_are_none_are_refused(masks, seeds, clump, message):
    with pytest.raises(ValueError, match=message):
        Segmentation.from_masks(masks, seeds, clump=clump)


@pytest.mark.parametrize("wrong", [{"clump": np.array([-7])}, {"radii": np.ones((1, 0))}])
def test_what_cannot_be_is_refused(wrong: dict[str, np.ndarray]) -> None:
    parts = {"seeds": np.zeros((1, 2)), "radii": np.ones((1, 16)), "clump": np.zeros(1, np.int64)}
    with pytest.raises(ValueError, match="outlines have at least 3 radii"):
        Segmentation((9, 9), **{**parts, **wrong})


def test_a_result_prints_as_two_lines() -> None:
    one = Segmentation((9, 12), np.full((1, 2), 4.0), np.full((1, 16), 2.0), np.zeros(1, np.int64))
    first, second = str(one).splitlines()
    assert first == "Segmentation of 1 cell in an image of 9 x 12 pixels" and "1 clump with cells" in second
    none = Segmentation((9, 12), np.empty((0, 2)), np.empty((0, 16)), np.empty(0, np.int64))
    assert len(repr(none).splitlines()) == 2
