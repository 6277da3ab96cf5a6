from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.datasets.marked import MarkedNuclei
from declump.records.regions import Regions
from declump.training.composites.cutouts import MARGIN, cut_cells, cut_lone_cells, cut_others


def disc(shape: tuple[int, int], row: float, column: float, radius: float) -> np.ndarray:
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return np.hypot(rows - row, columns - column) < radius


def drawn() -> AnnotatedImage:
    """One cell alone, two that overlap by half, and one that the border cuts."""
    shape, places = (200, 300), ((60, 60), (60, 180), (60, 205), (195, 100))
    cells = np.stack([disc(shape, *place, 30) for place in places])
    nuclei = np.stack([disc(shape, *place, 9) for place in places])
    light = 0.8 ** cells.sum(axis=0) * 0.5 ** nuclei.any(axis=0)
    labels = np.max(nuclei * np.arange(1, 5)[:, None, None], axis=0).astype(np.int32)
    return AnnotatedImage("drawn", np.rint(230 * light).astype(np.uint8), cells, labels, np.array(places, float))


def test_only_a_whole_cell_that_lies_free_is_cut_out() -> None:
    image = drawn()
    (cut,) = cut_cells(image)
    assert cut.cell.sum() == image.cells[0].sum() and cut.nucleus.sum() == (image.nucleus_labels == 1).sum()
    inner = cut.cell & ~cut.nucleus
    middle = cut.light[inner]
    assert abs(np.median(middle) - 0.8) < 0.01 and abs(cut.light[cut.nucleus].min() - 0.4) < 0.01
    assert (cut.light[0] > 0.99).all() and cut.cell.shape == (59 + 2 * MARGIN, 59 + 2 * MARGIN)


def test_a_clump_with_one_marked_nucleus_is_a_whole_cell() -> None:
    image = drawn()
    marked = MarkedNuclei("marked", image.image, image.seeds)
    regions = Regions(image.clump, image.nucleus_labels, layers=image.cells.sum(axis=0).astype(np.float32))
    (cut,) = cut_lone_cells(marked, regions)
    (drawn_one,) = cut_cells(image)
    assert (cut.cell == drawn_one.cell).all() and (cut.nucleus == drawn_one.nucleus).all()
    assert np.allclose(cut.light, drawn_one.light)


def test_a_clump_with_an_unmarked_cell_is_none() -> None:
    image = drawn()
    # Of the two cells that overlap one was not marked; the clump is no convex shape, or a network sees two layers.
    marked = MarkedNuclei("marked", image.image, image.seeds[1:2])
    layers = np.where(image.clump, 1.5, 0).astype(np.float32)
    assert not cut_lone_cells(marked, Regions(image.clump, image.nucleus_labels, layers=layers))
    nobody = MarkedNuclei("nobody", image.image, np.empty((0, 2)))
    assert not cut_lone_cells(nobody, Regions(image.clump, image.nucleus_labels))


def test_dark_spots_without_a_mark_are_cut_out_and_nuclei_are_not() -> None:
    image = np.full((160, 240), 220, np.uint8)
    leukocyte, nucleus, unmarked = (disc(image.shape, 80, column, 5.5) for column in (50, 120, 190))
    unmarked = disc(image.shape, 80, 190, 11)
    image[leukocyte | nucleus | unmarked] = 90
    (cut,) = cut_others(MarkedNuclei("spots", image, np.array([[80.0, 120.0]])))
    assert not cut.cell.any() and not cut.nucleus.any()
    assert abs(cut.light.min() - 90 / 220) < 0.02


def test_marks_may_be_a_mask() -> None:
    image = np.full((120, 120), 220, np.uint8)
    spot = disc(image.shape, 60, 60, 5.5)
    image[spot] = 90
    assert len(cut_others(MarkedNuclei("bare", image, np.empty((0, 2)), np.zeros(image.shape, np.int32)))) == 1
    assert not cut_others(MarkedNuclei("nucleus", image, np.array([[60.0, 60.0]]), spot.astype(np.int32)))


@pytest.mark.data
def test_cells_that_lie_free_in_public_data(isbi2014_folder: Path, isbi2015_folder: Path) -> None:
    # The counts stand in docs/simulation.md.
    assert sum(len(cut_cells(image)) for image in isbi2015.read(isbi2015_folder)) == 43
    assert sum(len(cut_cells(image)) for image in isbi2014.read(isbi2014_folder)) == 22
