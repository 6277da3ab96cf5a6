from __future__ import annotations

import numpy as np
import pytest

from declump.regions import Regions

CLUMP = np.zeros((20, 30), dtype=bool)
CLUMP[2:18, 3:27] = True


def test_pieces_of_a_mask_are_numbered_and_seeded() -> None:
    nuclei = np.zeros_like(CLUMP)
    nuclei[5:8, 5:8] = nuclei[10:13, 20:25] = True
    regions = Regions(CLUMP, nuclei)
    assert regions.nuclei.max() == 2
    assert regions.seeds.tolist() == [[6, 6], [11, 22]]
    assert regions.layers is None


def test_labels_are_made_consecutive_in_rising_order() -> None:
    labels = np.zeros(CLUMP.shape, dtype=np.uint16)
    labels[5, 5], labels[9, 9] = 700, 3
    regions = Regions(CLUMP, labels)
    assert regions.nuclei[9, 9] == 1
    assert regions.nuclei[5, 5] == 2
    assert regions.seeds.tolist() == [[9, 9], [5, 5]]


def test_labels_without_background() -> None:
    assert Regions(CLUMP, np.full(CLUMP.shape, 9)).nuclei.min() == 1


@pytest.mark.parametrize(
    ("nuclei", "word"),
    [(np.zeros((3, 3), bool), "one image"), (np.zeros(CLUMP.shape), "integers"), (np.zeros(5, int), r"\(H, W\)")],
)
def test_what_does_not_belong_together_is_refused(nuclei: np.ndarray, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        Regions(CLUMP, nuclei)


def test_layers_of_another_image_are_refused() -> None:
    with pytest.raises(ValueError, match="layers"):
        Regions(CLUMP, np.zeros_like(CLUMP), layers=np.zeros((4, 4), np.float32))
