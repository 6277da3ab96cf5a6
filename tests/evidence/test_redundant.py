from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import declump
from declump.evidence.candidates import drop_nuclei
from declump.evidence.redundant import OWN, SURE, find_redundant
from declump.records.crops import Crop, crop_contour
from declump.records.regions import Regions

CLUMP = np.ones((160, 240), np.bool_)


def discs(places: list[tuple[int, int]], radii: list[float]) -> list[Crop]:
    return [
        crop_contour(place, np.full(64, radius, dtype=float), CLUMP.shape)
        for place, radius in zip(places, radii, strict=True)
    ]


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
    cells = discs([(80, 80), (80, 82)], [40, 40])
    assert find_redundant(cells, np.array([0.4, 0.5]), CLUMP).size == 1


def test_a_doubtful_cell_with_enough_of_its_own_stays() -> None:
    # Two equal circles whose centres are a radius apart share 39 % of each.
    cells = discs([(80, 80), (80, 120)], [40, 40])
    assert OWN < 0.6 and find_redundant(cells, np.array([0.3, 0.3]), CLUMP).size == 0


def test_what_lies_outside_the_clump_explains_nothing() -> None:
    cells = discs([(80, 80), (80, 120)], [40, 40])
    clump = CLUMP.copy()
    clump[:, 112:] = False
    assert find_redundant(cells, np.array([0.9, 0.3]), clump).tolist() == [1]


def test_no_cell_is_no_problem() -> None:
    assert find_redundant([], np.zeros(0), CLUMP).size == 0


def regions() -> Regions:
    nuclei, candidates = np.zeros((2, 40, 60), np.int32)
    for number, column in enumerate((5, 20, 35), start=1):
        nuclei[10:14, column : column + 4] = number
    candidates[30:33, 5:8] = 1
    probability = np.array([0.9, 0.5, 0.7])
    clump = np.ones(nuclei.shape, np.bool_)
    return Regions(
        clump,
        nuclei,
        candidates=candidates,
        nucleus_probability=probability,
        candidate_probability=np.array([0.1]),
    )


def test_dropped_nuclei_are_candidates_after_the_others() -> None:
    given = regions()
    left = drop_nuclei(given, np.array([1]))
    assert len(left.seeds) == 2 and left.nucleus_probability.tolist() == [0.9, 0.7]
    assert left.candidate_probability.tolist() == [0.1, 0.5]
    assert (left.candidates == 2).sum() == (given.nuclei == 2).sum()
    assert ((left.nuclei > 0) | (left.candidates > 0) == (given.nuclei > 0) | (given.candidates > 0)).all()


def test_a_leukocyte_on_a_cell_is_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """End to end: a second nucleus on a smear's cell that a judge doubts leaves the cells as they are without it."""
    smear = declump.simulate.smear((256, 256), cells=5, overlap=0.3, stain="pap", rng=4)
    numbers = np.arange(1, 6)[:, None, None]
    nuclei = np.max(smear.nuclei * numbers, axis=0).astype(np.int32)
    rows, columns = np.mgrid[:256, :256]
    row, column = smear.seeds[0] + (30, 0)
    spot = (np.hypot(rows - row, columns - column) < 5) & (nuclei == 0) & smear.clump
    nothing = np.zeros_like(nuclei)
    sure = Regions(
        smear.clump,
        nuclei,
        candidates=nothing,
        nucleus_probability=np.full(5, 0.99),
        candidate_probability=np.zeros(0),
    )
    doubted = Regions(
        smear.clump,
        np.where(spot, 6, nuclei),
        candidates=nothing,
        nucleus_probability=np.append(np.full(5, 0.99), 0.45),
        candidate_probability=np.zeros(0),
    )
    plain, told = (declump.segment(smear.image, regions=known, min_nucleus=0.4) for known in (sure, doubted))
    monkeypatch.setattr("declump.evidence.redundant.SURE", 0.0)
    taken = declump.segment(smear.image, regions=doubted, min_nucleus=0.4)
    assert len(taken) == 6 and len(told) == len(plain) == 5
    assert len(told.others) == 1 and told.others.probability[0] == pytest.approx(0.45)
    agreement = declump.score(plain.masks, told.masks).dice_all
    assert agreement > 0.98 and agreement >= declump.score(plain.masks, taken.masks).dice_all
