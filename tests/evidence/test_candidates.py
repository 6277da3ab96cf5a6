from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import declump
from declump import simulate
from declump.evidence.candidates import confirm_candidates, iou
from declump.evidence.proposals import RayProposer
from declump.regions import Regions
from declump.regions.channels import ImageChannels


def discs(*cells: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(cells, float)
    return array[:, :2], np.repeat(array[:, 2:], 90, axis=1)


def test_likeness_of_known_shapes() -> None:
    assert iou(*discs((100, 100, 40), (100, 100, 40))) == 1
    assert iou(*discs((100, 100, 40), (100, 100, 20))) == pytest.approx(0.25, abs=0.01)
    assert iou(*discs((50, 60, 20), (150, 200, 30))) == 0
    assert iou(*discs((-5, 3, 20), (-5, 3, 20))) == 1
    assert iou(*discs((5, 3, 0), (5, 3, 0))) == 0


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
    distance = np.hypot(rows - smear.seeds[0, 0], columns - smear.seeds[0, 1])
    middle = np.argmin(np.abs(distance - 20))
    grid = np.indices(only.shape)
    spot = np.hypot(grid[0] - rows[middle], grid[1] - columns[middle]) < 4
    candidates = np.where(last, 2, np.where(spot & only, 1, 0))
    return Regions(smear.clump, np.where(last, 0, nuclei), candidates=candidates)


def test_a_nucleus_is_borne_out_by_its_cell_and_debris_is_not(smear: simulate.Smear, doubted: Regions) -> None:
    found = confirm_candidates(doubted, RayProposer(ImageChannels(smear.image)))
    assert found.candidates is None
    assert len(found.seeds) == len(smear.cells)
    assert (found.nuclei == labels(smear)).all()


def test_cells_of_candidates_are_found(smear: simulate.Smear, doubted: Regions) -> None:
    result = declump.segment(smear.image, regions=doubted)
    assert declump.score(smear.cells, result.masks).dice.min() > 0.8
    assert len(declump.segment(smear.image, regions=doubted, evidence="clump")) == len(smear.cells) - 1


def test_without_candidates_nothing_changes(smear: simulate.Smear, doubted: Regions) -> None:
    for candidates in (None, np.zeros_like(doubted.nuclei)):
        plain = replace(doubted, candidates=candidates)
        assert (confirm_candidates(plain, RayProposer(ImageChannels(smear.image))).nuclei == doubted.nuclei).all()


def test_candidates_of_another_image_are_refused(doubted: Regions) -> None:
    with pytest.raises(ValueError, match="candidates"):
        replace(doubted, candidates=np.zeros((3, 3), np.int32))
