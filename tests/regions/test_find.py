from __future__ import annotations

import numpy as np
import pytest

from declump import simulate
from declump.models import NUCLEUS_DIAMETER
from declump.regions.find import find_regions, resolution

SMEAR = simulate.smear((260, 280), cells=5, overlap=0.3, debris=0, rng=12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pixel_size": 0}, "pixel size"),
        ({"diameter": 1}, "diameter"),
    ],
)
def test_impossible_sizes_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        find_regions(SMEAR.image, **options)


def test_the_resolution_is_the_usual_one_unless_nuclei_are_far_off() -> None:
    rows, columns = np.mgrid[:300, :300]
    for radius, expected in ((12, NUCLEUS_DIAMETER), (25, 50.0)):
        labels = np.zeros((300, 300), np.int32)
        for index in range(6):
            labels[np.hypot(rows - 60 - 90 * (index % 3), columns - 60 - 90 * (index // 3)) <= radius] = index + 1
        assert resolution(labels, NUCLEUS_DIAMETER) == pytest.approx(expected, rel=0.05)
    assert resolution(np.zeros((9, 9), np.int32), NUCLEUS_DIAMETER) == NUCLEUS_DIAMETER


@pytest.mark.parametrize(("options", "words"), [({"pixel_size": 0.1}, "size of a pixel"), ({"diameter": 14}, "given")])
def test_a_scale_that_the_nuclei_contradict_is_said(options: dict[str, float], words: str) -> None:
    with pytest.warns(UserWarning, match=words):
        find_regions(SMEAR.image, **options)


def test_a_wrong_pixel_size_changes_nothing_but_the_warning() -> None:
    usual = find_regions(SMEAR.image)
    with pytest.warns(UserWarning, match="check the pixel size"):
        told = find_regions(SMEAR.image, pixel_size=0.1)
    assert told.diameter == pytest.approx(usual.diameter, rel=0.45)
    assert len(told.seeds) == pytest.approx(len(usual.seeds), abs=1)
