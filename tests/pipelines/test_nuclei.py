from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

import declump
from declump.datasets import isbi2015
from declump.pipelines.nuclei import evolve_nuclei, find_second_nuclei
from declump.seeds.distance import basins, depths

SHAPE = (90, 120)


def ellipse(centre, radius, aspect=1.0, angle=0.0) -> np.ndarray:
    rows, columns = np.indices(SHAPE)
    down, right = rows - centre[0], columns - centre[1]
    along, across = np.cos(angle) * right + np.sin(angle) * down, np.cos(angle) * down - np.sin(angle) * right
    return np.hypot(along / np.sqrt(aspect), across * np.sqrt(aspect)) < radius


def cut(truth: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Label image that gives every pixel of overlapping masks to one of them."""
    return basins(seeds, depths(truth.any(axis=0)))


def test_overlapping_nuclei_come_out_whole_from_a_cut_through_them():
    rng = np.random.default_rng(0)
    whole, halves = [], []
    for _ in range(30):
        apart, angle, ratio, aspect, turn = rng.uniform((1.1, 0, 0.75, 1, 0), (1.9, 2 * np.pi, 1, 1.6, np.pi))
        first, radius = np.array([45.0, 55.0]), 12.0
        second = first + apart * radius * (1 + ratio) / 2 * np.array([np.sin(angle), np.cos(angle)])
        truth = np.stack([ellipse(first, radius, aspect, turn), ellipse(second, ratio * radius)])
        labels = cut(truth, np.stack([first, second]))
        whole.append(declump.score(truth, evolve_nuclei(labels).masks, matching="order").dice_all)
        halves.append(declump.score(truth, labels == np.array([1, 2])[:, None, None], matching="order").dice_all)
    assert np.min(whole) > 0.93
    assert np.mean(whole) > max(0.98, np.mean(halves) + 0.02)


def test_two_discs_share_the_pixels_in_both():
    truth = np.stack([ellipse((45, 50), 13), ellipse((45, 66), 13)])
    labels = cut(truth, np.array([(45, 50), (45, 66)]))
    second = find_second_nuclei(labels)
    assert second is not None
    both = truth.all(axis=0)
    assert 2 * np.sum((second > 0) & both) / (np.sum(second > 0) + both.sum()) > 0.8
    assert not np.any((second > 0) & ((labels == 0) | (labels == second)))


def test_nuclei_apart_share_nothing_and_are_left_alone():
    labels = ellipse((30, 30), 10) + 2 * ellipse((60, 80), 12).astype(np.int32)
    assert find_second_nuclei(labels) is None
    assert not evolve_nuclei(labels, joined=True).radii.any()
    assert declump.score(labels == np.array([1, 2])[:, None, None], evolve_nuclei(labels).masks).dice.min() > 0.96


def test_no_nucleus_gives_none():
    nothing = np.zeros(SHAPE, np.int32)
    assert find_second_nuclei(nothing) is None
    assert len(evolve_nuclei(nothing)) == 0
    assert len(declump.segment_nuclei(np.full(SHAPE, 200, np.uint8))) == 0


def test_touching_nuclei_give_a_cell_each_and_whole_nuclei_in_the_result():
    truth = np.stack([ellipse((45, 50), 10), ellipse((45, 64), 10)])
    clump = ellipse((45, 45), 36) | ellipse((45, 72), 36)
    nuclei = cut(truth, np.array([(45, 50), (45, 64)]))
    image = np.where(clump, 170, 230).astype(np.uint8)
    image[nuclei > 0] = 80
    result = declump.segment(image, regions=declump.Regions(clump, nuclei), evidence="clump")
    assert len(result) == 2 and result.second_nuclei is not None
    assert (
        declump.score(truth, np.stack([result.nucleus_mask(0), result.nucleus_mask(1)]), matching="order").dice.min()
        > 0.9
    )
    areas = declump.measure(result).cells["nucleus_area_px2"]
    np.testing.assert_array_equal(areas, [result.nucleus_mask(index).sum() for index in (0, 1)])
    assert areas.sum() > np.count_nonzero(nuclei)


def test_rows_are_those_of_the_cells():
    smear = declump.simulate.smear((256, 256), cells=5, joined_nuclei=0.6, rng=4)
    regions = declump.find_regions(smear.image, cut_nuclei=True)
    nuclei = declump.segment_nuclei(smear.image, regions=regions)
    cells = declump.segment(smear.image, regions=regions, evidence="clump")
    assert len(nuclei) == len(regions.seeds)
    pixels = np.floor(regions.seeds + 0.5).astype(int)
    assert all(nuclei.mask(index)[tuple(pixel)] for index, pixel in enumerate(pixels))
    np.testing.assert_array_equal(cells.seeds[: len(pixels)], pixels)


def test_the_failure_of_the_paper_two_overlapping_nuclei_are_two_cells():
    """By pieces of the nuclei each of these pairs is one cell; by shape two, and half of them from the image, too."""
    by_shape, found = [], []
    for number in range(8):
        smear = declump.simulate.smear((256, 256), cells=2, clumps=1, joined_nuclei=1, rng=number)
        union = smear.nuclei.any(axis=0)
        assert ndimage.label(union, np.ones((3, 3)))[1] == 1
        by_shape.append(len(declump.find_seeds(union)))
        found.append(len(declump.find_regions(smear.image, cut_nuclei=True).seeds))
    assert by_shape == 8 * [2]
    assert found.count(2) >= 4 and found.count(1) + found.count(2) >= 7


def test_regions_of_another_image_are_refused():
    regions = declump.Regions(np.ones(SHAPE, bool), np.zeros(SHAPE, np.int32))
    with pytest.raises(ValueError, match="of another image"):
        declump.segment_nuclei(np.zeros((20, 30)), regions=regions)


@pytest.mark.data
def test_no_cell_of_isbi2015_is_lost_to_nuclei_that_are_one_piece(isbi2015_folder: Path) -> None:
    pairs = 0
    for image in isbi2015.read(isbi2015_folder):
        pieces, _ = ndimage.label(image.nucleus_labels > 0, np.ones((3, 3)))
        for piece, box in enumerate(ndimage.find_objects(pieces), start=1):
            window = tuple(slice(max(side.start - 3, 0), side.stop + 3) for side in box)
            mask = pieces[window] == piece
            names = np.unique(image.nucleus_labels[window][mask])
            seeds = declump.find_seeds(mask)
            if len(names) == 1:
                continue
            pairs += 1
            assert len(seeds) == len(names), (image.name, names)
    assert pairs >= 7
