from __future__ import annotations

import numpy as np
import pytest

import declump
from declump.data import samples


@pytest.fixture(scope="module")
def smears() -> dict[str, declump.simulate.Smear]:
    return {stain: samples.smear(stain) for stain in ("pap", "he", "grey")}


def test_three_stains_of_the_same_cells(smears: dict[str, declump.simulate.Smear]) -> None:
    assert smears["pap"].image.shape == smears["he"].image.shape == (768, 1024, 3)
    assert smears["grey"].image.shape == (768, 1024)
    for one in ("he", "grey"):
        assert np.array_equal(smears[one].cells, smears["pap"].cells)
    overlapping = smears["pap"].cells.sum(axis=0) > 1
    assert overlapping.sum() > 10_000


def test_the_colours_are_those_of_the_stain(smears: dict[str, declump.simulate.Smear]) -> None:
    """Inside cells H&E is redder than blue; nuclei are darkest; the field is bright."""
    for smear in smears.values():
        grey = smear.image if smear.image.ndim == 2 else smear.image.mean(axis=2)
        nuclei, clump = smear.nuclei.any(axis=0), smear.clump
        assert grey[nuclei].mean() < grey[clump & ~nuclei].mean() - 40 < grey[~clump].mean() - 50
        assert np.median(grey[~clump]) > 200
    plasma = smears["he"].image[smears["he"].clump & ~smears["he"].nuclei.any(axis=0)].mean(axis=0)
    assert plasma[0] > plasma[2] > plasma[1]


def test_declump_finds_the_cells_of_its_sample(smears: dict[str, declump.simulate.Smear]) -> None:
    result = declump.segment(smears["pap"].image)
    assert declump.score(smears["pap"].cells, result.masks).dice_all > 0.8
