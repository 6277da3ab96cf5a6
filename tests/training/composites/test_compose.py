from __future__ import annotations

import numpy as np
import pytest

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.training.composites.compose import CROP, Stock, paste_others
from support.annotated_smears import annotated


def stock(**options: object) -> Stock:
    found = Stock()
    found.add(annotated(3, side=300, overlap=0, clumps=4, cells=4, radius=30, stain="grey", **options))
    return found


def test_composites_add_whole_cells_to_real_ones_and_follow_from_their_seed() -> None:
    found = stock()
    assert found.cells
    made = list(found.compose(4, 7))
    for image in made:
        assert isinstance(image, AnnotatedImage)  # which has checked that seeds lie in their cells
        assert len(image.cells) > 4
        light = image.image.reshape(*image.cells.shape[1:], -1).mean(axis=2)
        assert image.clump[light < np.median(light) - 40].mean() > 0.9
    assert [image.image.ndim for image in made] == [2, 3, 2, 3]
    again = list(stock().compose(4, 7))
    assert all((one.image == two.image).all() for one, two in zip(made, again, strict=True))
    assert not (made[0].image == next(iter(stock().compose(1, 8))).image).all()


def test_a_pasted_cell_darkens_the_frame_by_what_it_lets_through() -> None:
    found = stock(debris=0, noise=0)
    found.others.clear()
    frame = found.frames[0]
    for image in list(found.compose(5, 1))[::2]:
        new = image.cells[len(frame.cells) :].any(axis=0)
        whole = {orientation(frame.image, turn).tobytes(): orientation(frame.image, turn) for turn in range(8)}
        least = min(np.abs(image.image[~new].astype(int) - before[~new]).mean() for before in whole.values())
        assert least < 2


def orientation(image: np.ndarray, turn: int) -> np.ndarray:
    turned = np.rot90(image, turn % 4)
    return np.ascontiguousarray(turned[::-1] if turn >= 4 else turned)


def test_large_frames_are_cropped_and_colour_stays() -> None:
    found = Stock()
    found.add(annotated(3, side=CROP + 60, overlap=0, clumps=4, cells=4, radius=40, stain="pap"))
    for image in found.compose(2, 1):
        assert image.image.shape == (CROP, CROP, 3)
        assert image.nucleus_labels.max() <= len(image.cells)


def test_others_are_pasted_and_marks_stay() -> None:
    rows, columns = np.mgrid[:300, :300]
    image = np.full((300, 300), 220, np.uint8)
    for place in (60, 150, 240):
        image[np.hypot(rows - place, columns - 60) < 5] = 80
    marked = MarkedNuclei("spots", image, np.empty((0, 2)))
    found = Stock()
    found.add(marked)
    assert len(found.others) == 3
    pasted = paste_others(marked, found.others, 6, 1)
    assert (pasted.image <= image + 4).all() and (pasted.image < 150).sum() > 1.5 * (image < 150).sum()


def test_without_free_cells_there_are_no_composites() -> None:
    with pytest.raises(ValueError, match="lie free"):
        list(Stock().compose(1, 0))
    assert list(Stock().compose(0, 0)) == []
