from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from declump_paper.research import open_data, plan_folds, store_images
from declump_paper.research.data import NAMES


def test_simulated_data_is_drawn_and_says_what_it_stands_for() -> None:
    first, second = (open_data("simulated-he", None, count=2, seed=3) for _ in range(2))
    images = list(first.images())
    assert [image.name for image in images] == ["smear000", "smear001"]
    assert all(len(image.cells) == 12 and image.image.ndim == 3 for image in images)
    assert first.printed == "he" and "in place of the paper's private H&E set" in first.note
    np.testing.assert_array_equal(images[1].image, list(second.images())[1].image)
    other = next(open_data("simulated-he", None, count=1, seed=4).images())
    assert not np.array_equal(images[0].cells, other.cells)
    assert open_data("simulated-pap", None).printed is None


def test_pooled_data_sets_share_their_folds_but_not_their_names(tmp_path: Path) -> None:
    opened = open_data("simulated-pap+simulated-he", None, count=3, cells=6, seed=1)
    images = store_images(opened.images(), tmp_path)
    assert images.names[0] == "simulated-pap/smear000" and images.names[3] == "simulated-he/smear000"
    assert images.cells == (6,) * 6 and opened.groups(images.names) == [0, 1, 2, 3, 4, 5]
    assert [(part.prefix, part.printed) for part in opened.parts] == [("simulated-pap/", None), ("simulated-he/", "he")]
    assert opened.printed is None and "Divided into folds together" in opened.note
    with pytest.raises(ValueError, match="pooled once each"):
        open_data("simulated-he+simulated-he", None)


def test_a_smear_with_more_cells_is_larger() -> None:
    few, many = (next(open_data("simulated-he", None, count=1, cells=cells).images()) for cells in (12, 24))
    assert len(many.cells) == 24
    assert many.clump.size == pytest.approx(2 * few.clump.size, rel=0.01)


@pytest.mark.data
def test_frames_that_show_the_same_cells_stay_together_in_pooled_folds(isbi2015_folder: Path) -> None:
    opened = open_data("simulated-he+isbi2015", isbi2015_folder.parent, count=2, cells=4)
    names = ["simulated-he/smear000", "simulated-he/smear001", "isbi2015/frame014", "isbi2015/frame017"]
    groups = opened.groups(names)
    assert groups is not None and groups[2] == groups[3] and len(set(groups)) == 3


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=", ".join(NAMES)):
        open_data("isbi", tmp_path)
    with pytest.raises(ValueError, match="tell where they are"):
        open_data("coco", None)
    with pytest.raises(FileNotFoundError, match="give the place of the data"):
        open_data("isbi2014", tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="No frames in"):
        list(open_data("folder", tmp_path).images())


@pytest.mark.data
def test_frames_that_show_the_same_cells_are_never_separated(isbi2015_folder: Path, tmp_path: Path) -> None:
    opened = open_data("isbi2015", isbi2015_folder.parent)
    images = store_images(opened.images(), tmp_path)
    assert sum(images.cells) == 320 and opened.printed == "pap"
    one, other = images.names.index("frame014"), images.names.index("frame017")
    for fold in plan_folds(len(images), groups=opened.groups(images.names)).folds:
        assert (one in fold.train) == (other in fold.train)
