from __future__ import annotations

from dataclasses import replace

import numpy as np

from declump import Regions, simulate
from declump.evidence.binucleate import _find_owners, join_nuclei_of_one_cell
from declump.evidence.proposals import RayProposer
from declump.regions.channels import ImageChannels


def discs(*cells: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(cells, float)
    return array[:, :2], np.repeat(array[:, 2:], 64, axis=1)


def test_the_same_outline_round_two_nuclei_is_one_cell_of_the_surer() -> None:
    seeds, radii = discs((100, 100, 40), (100, 103, 40), (100, 160, 40))
    assert _find_owners(seeds, radii, np.array([0.7, 0.9, 0.8])).tolist() == [1, 1, 2]
    assert _find_owners(seeds, radii, np.array([0.9, 0.9, 0.8])).tolist() == [0, 0, 2]


def test_overlapping_cells_stay_two() -> None:
    seeds, radii = discs((100, 100, 40), (100, 125, 40))
    assert _find_owners(seeds, radii, np.array([0.9, 0.8])).tolist() == [0, 1]


def test_numbers_and_probabilities_follow_and_without_a_judge_nothing_changes() -> None:
    smear = simulate.smear((300, 300), cells=4, overlap=0.2, rng=3)
    labels = (smear.nuclei * np.arange(1, len(smear.cells) + 1)[:, None, None]).max(axis=0)
    regions = Regions(smear.clump, labels)
    proposer = RayProposer(ImageChannels(smear.image))
    assert join_nuclei_of_one_cell(regions, proposer) is regions
    judged = replace(regions, nucleus_probability=np.linspace(0.6, 0.9, len(regions.seeds)))
    joined = join_nuclei_of_one_cell(judged, proposer)
    assert joined.nucleus_probability is not None and len(joined.nucleus_probability) == len(joined.seeds)
    assert ((joined.nuclei > 0) == (labels > 0)).all()
