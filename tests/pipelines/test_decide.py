"""Which candidates become nuclei: each rule on its own, and all of them through ``segment``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from skimage.morphology import disk

import declump
from declump import simulate
from declump.models import Model
from declump.pipelines.cells import divide_image
from declump.pipelines.decide import (
    OWN,
    SURE,
    ClumpTable,
    Status,
    _open,
    find_owners,
    find_redundant,
    find_unexplained,
    iou,
    rescue,
)
from declump.pipelines.solve import CellSolver
from declump.pipelines.view import ClumpView
from declump.records.boxes import Box
from declump.records.crops import Crop, crop_contour
from declump.records.spots import Spots
from declump.regions import Regions
from declump.regions.options import RegionOptions

CLUMP = np.ones((160, 240), np.bool_)
ROWS, COLUMNS = np.mgrid[:200, :300]
PAIR = (np.hypot(ROWS - 100, COLUMNS - 80) < 42) | (np.hypot(ROWS - 100, COLUMNS - 170) < 40)


def outlines(*cells: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(cells, float)
    return array[:, :2], np.repeat(array[:, 2:], 64, axis=1)


def discs(places: list[tuple[int, int]], radii: list[float], shape: tuple[int, int] = (160, 240)) -> list[Crop]:
    return [crop_contour(place, np.full(64, radius, float), shape) for place, radius in zip(places, radii, strict=True)]


def show(places: list[tuple[int, int]], probability: list[float]) -> ClumpTable:
    """Two discs, and candidates of which the first is an accepted nucleus."""
    masks = [np.hypot(ROWS - row, COLUMNS - column) < 6 for row, column in places]
    boxes = [(row - 5, column - 5, row + 6, column + 6) for row, column in places]
    crops = [mask[top:bottom, left:right] for mask, (top, left, bottom, right) in zip(masks, boxes, strict=True)]
    spots = Spots(np.array(boxes), crops, np.array(probability), np.zeros(len(places)))
    own = np.ones(len(places), bool)
    channels = np.ones((3, *PAIR.shape), np.float32)
    view = ClumpView(Box(0, 0, 200, 300), channels, PAIR.astype(np.uint8), spots, own, np.arange(len(places)) == 0)
    table = ClumpTable(view, None)
    table.accept([(0,)], Status.ACCEPTED)
    return table


def test_likeness_of_known_shapes() -> None:
    assert iou(*outlines((100, 100, 40), (100, 100, 40))) == 1
    assert iou(*outlines((100, 100, 40), (100, 100, 20))) == pytest.approx(0.25, abs=0.01)
    assert iou(*outlines((50, 60, 20), (150, 200, 30))) == 0
    assert iou(*outlines((-5, 3, 20), (-5, 3, 20))) == 1
    assert iou(*outlines((5, 3, 0), (5, 3, 0))) == 0


def test_the_same_outline_round_two_nuclei_is_one_cell_of_the_surer() -> None:
    seeds, radii = outlines((100, 100, 40), (100, 103, 40), (100, 160, 40))
    assert find_owners(seeds, radii, np.array([0.7, 0.9, 0.8])).tolist() == [1, 1, 2]
    assert find_owners(seeds, radii, np.array([0.9, 0.9, 0.8])).tolist() == [0, 0, 2]


def test_overlapping_cells_stay_two() -> None:
    seeds, radii = outlines((100, 100, 40), (100, 125, 40))
    assert find_owners(seeds, radii, np.array([0.9, 0.8])).tolist() == [0, 1]


def test_a_doubtful_cell_within_another_is_redundant() -> None:
    cells = discs([(80, 80), (85, 90), (80, 190)], [50, 20, 30])
    assert find_redundant(cells, np.array([0.95, SURE - 0.1, 0.3]), CLUMP).tolist() == [1]


def test_a_sure_nucleus_needs_no_area_of_its_own() -> None:
    cells = discs([(80, 80), (85, 90)], [50, 20])
    assert find_redundant(cells, np.array([0.95, SURE]), CLUMP).size == 0


@given(st.lists(st.tuples(st.integers(20, 140), st.integers(20, 220), st.integers(5, 40), st.floats(0, 1)), max_size=7))
def test_every_doubtful_cell_that_stays_has_enough_of_its_own(drawn: list[tuple[int, int, int, float]]) -> None:
    cells = discs([place[:2] for place in drawn], [float(place[2]) for place in drawn])
    probability = np.array([place[3] for place in drawn])
    dropped = find_redundant(cells, probability, CLUMP)
    assert (probability[dropped] < SURE).all()
    stay = np.setdiff1d(np.arange(len(cells)), dropped)
    layers = np.zeros(CLUMP.shape, int)
    for index in stay:
        layers[cells[index].box] += cells[index].mask
    for index in stay[probability[stay] < SURE]:
        assert np.mean(layers[cells[index].box][cells[index].mask] == 1) >= OWN


def test_of_two_doubtful_cells_on_one_place_one_stays() -> None:
    assert find_redundant(discs([(80, 80), (80, 82)], [40, 40]), np.array([0.4, 0.5]), CLUMP).size == 1


def test_what_lies_outside_the_clump_explains_nothing() -> None:
    clump = CLUMP.copy()
    clump[:, 112:] = False
    assert find_redundant(discs([(80, 80), (80, 120)], [40, 40]), np.array([0.9, 0.3]), clump).tolist() == [1]


def test_a_large_part_that_no_cell_explains_is_found_unless_the_border_cuts_it() -> None:
    cells = discs([(100, 80)], [40], PAIR.shape)
    (part,) = find_unexplained(cells, PAIR, np.pi * 40**2)
    assert part.mask[100 - part.top, 170 - part.left]
    both = discs([(100, 80), (100, 170)], [40, 39], PAIR.shape)
    assert not list(find_unexplained(both, PAIR, np.pi * 40**2))
    at_border = (np.hypot(ROWS - 100, COLUMNS - 80) < 42) | (np.hypot(ROWS, COLUMNS - 200) < 60)
    assert not list(find_unexplained(cells, at_border, np.pi * 40**2))
    assert not list(find_unexplained([], PAIR, np.pi * 40**2))


def test_the_most_probable_candidate_of_an_unexplained_part_is_its_nucleus() -> None:
    table = show([(100, 80), (90, 160), (105, 175), (90, 95)], [0.9, 0.2, 0.3, 0.4])
    bare = rescue(table, discs([(100, 80)], [40], PAIR.shape), 0.5, np.pi * 40**2)
    assert table.cells == [(0,), (2,)] and not len(bare)
    assert table.status.tolist() == [Status.ACCEPTED, 0, Status.RESCUED, 0]


def test_a_part_without_any_candidate_gets_no_cell_but_a_bare_seed_where_nothing_is_classified() -> None:
    cells = discs([(100, 80)], [40], PAIR.shape)
    table = show([(100, 80), (105, 175)], [0.9, 0.01])
    assert not len(rescue(table, cells, 0.5, np.pi * 40**2)) and table.cells == [(0,)]
    table.view = replace(table.view, is_classified=False)
    (seed,) = rescue(table, cells, 0.5, np.pi * 40**2)
    assert np.hypot(*(seed - (100, 170))) < 8


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.floats(0.5, 3))
def test_opening_by_distances_is_that_by_discs(seed: int, radius: int, grain: float) -> None:
    noise = np.random.default_rng(seed).normal(size=(31, 37))
    mask = ndimage.gaussian_filter(noise, grain) > -0.05
    np.testing.assert_array_equal(_open(mask, radius), ndimage.binary_opening(mask, disk(radius)))


@pytest.fixture(scope="module")
def smear() -> simulate.Smear:
    return simulate.smear((400, 400), cells=6, overlap=0.3, rng=2)


def labels(smear: simulate.Smear) -> np.ndarray:
    return (smear.nuclei * np.arange(1, len(smear.cells) + 1)[:, None, None]).max(axis=0)


@pytest.fixture(scope="module")
def doubted(smear: simulate.Smear) -> Regions:
    """True regions, the last nucleus a candidate only, and a small spot on the cytoplasm of the first cell another."""
    nuclei = labels(smear)
    last = nuclei == len(smear.cells)
    only = smear.cells[0] & (smear.cells.sum(axis=0) == 1) & (nuclei == 0)
    rows, columns = np.nonzero(only)
    middle = np.argmin(np.abs(np.hypot(rows - smear.seeds[0, 0], columns - smear.seeds[0, 1]) - 20))
    grid = np.indices(only.shape)
    spot = np.hypot(grid[0] - rows[middle], grid[1] - columns[middle]) < 4
    return Regions(smear.clump, np.where(last, 0, nuclei), candidates=np.where(last, 2, np.where(spot & only, 1, 0)))


def test_a_nucleus_is_confirmed_by_its_cell_and_debris_is_not(smear: simulate.Smear, doubted: Regions) -> None:
    result = declump.segment(smear.image, regions=doubted)
    assert declump.score(smear.cells, result.masks).dice.min() > 0.8 and (result.nuclei == labels(smear)).all()
    assert len(declump.segment(smear.image, regions=doubted, evidence="clump")) == len(smear.cells) - 1


def test_a_leukocyte_on_a_cell_is_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second nucleus on a cell that is doubted leaves the cells as they are without it."""
    smear = simulate.smear((256, 256), cells=5, overlap=0.3, stain="pap", rng=4)
    nuclei = np.max(smear.nuclei * np.arange(1, 6)[:, None, None], axis=0).astype(np.int32)
    rows, columns = np.mgrid[:256, :256]
    row, column = smear.seeds[0] + (30, 0)
    spot = (np.hypot(rows - row, columns - column) < 5) & (nuclei == 0) & smear.clump
    nothing = {"candidates": np.zeros_like(nuclei), "candidate_probability": np.zeros(0)}
    sure = Regions(smear.clump, nuclei, nucleus_probability=np.full(5, 0.99), **nothing)
    said = np.append(np.full(5, 0.99), 0.45)
    doubted = Regions(smear.clump, np.where(spot, 6, nuclei), nucleus_probability=said, **nothing)
    plain, told = (declump.segment(smear.image, regions=known, min_nucleus=0.4) for known in (sure, doubted))
    monkeypatch.setattr("declump.pipelines.decide.SURE", 0.0)
    taken = declump.segment(smear.image, regions=doubted, min_nucleus=0.4)
    assert len(taken) == 6 and len(told) == len(plain) == 5
    assert len(told.others) == 1 and told.others.probability[0] == pytest.approx(0.45)
    agreement = declump.score(plain.masks, told.masks).dice_all
    assert agreement > 0.97 and agreement >= declump.score(plain.masks, taken.masks).dice_all


def test_windows_are_run_once_a_candidate_unless_what_they_show_of_others_changes(
    smear: simulate.Smear, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[bytes] = []
    run = Model.run

    def count(model: Model, window: np.ndarray, **how: bool) -> np.ndarray:
        if window.shape[0] == 9 and window.shape[1] == 64 and window.shape[2] == 80:
            runs.append(window.tobytes())
        return run(model, window, **how)

    monkeypatch.setattr(Model, "run", count)
    options = RegionOptions()
    division = divide_image(smear.image, options, options, CellSolver.from_names())
    solved = division.solve()
    assert len(runs) == len(set(runs)) >= sum(len(solution) for _, _, solution in solved.parts)
