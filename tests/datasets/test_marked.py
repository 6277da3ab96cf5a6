from __future__ import annotations

from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest

from declump.datasets import read_marked
from declump.datasets.marked import MarkedNuclei, read
from support.annotated_smears import annotated


def write(folder: Path) -> None:
    folder.mkdir()
    image = np.full((30, 40), 200, np.uint8)
    mask = np.zeros((30, 40), np.uint8)
    mask[3:8, 4:9], mask[20:25, 30:36] = 255, 255
    for name in ("b", "a", "alone"):
        imageio.imwrite(folder / f"{name}.png", image)
    (folder / "a.csv").write_text("5,6\n22,33\n")
    imageio.imwrite(folder / "b_nuclei.png", mask)


def test_points_and_masks_are_read_and_other_pictures_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "smears")
    points, mask = read_marked(tmp_path / "smears")
    assert (points.name, mask.name) == ("smears/a", "smears/b")
    assert points.points.tolist() == [[5, 6], [22, 33]] and points.labels is None
    assert mask.points.tolist() == [[5, 6], [22, 32.5]] and mask.labels is not None and mask.labels.max() == 2


def test_places_where_nobody_could_tell_are_read(tmp_path: Path) -> None:
    write(tmp_path / "smears")
    doubtful = np.zeros((30, 40), np.uint8)
    doubtful[:4] = 1
    for name in ("a", "b"):
        imageio.imwrite(tmp_path / "smears" / f"{name}_unknown.png", doubtful)
    for image in read_marked(tmp_path / "smears"):
        assert image.unknown is not None and np.array_equal(image.unknown, doubtful > 0)
    imageio.imwrite(tmp_path / "smears" / "a_unknown.png", doubtful[:-1])
    with pytest.raises(ValueError, match=r"a_unknown.png has shape \(29, 40\), its image \(30, 40\)"):
        list(read(tmp_path / "smears"))


@pytest.mark.parametrize(("text", "words"), [("5;6\n", "table of points"), ("5,60\n", "outside"), ("1,2,3\n", "table")])
def test_wrong_points_are_refused(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path / "smears")
    (tmp_path / "smears" / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        list(read(tmp_path / "smears"))


def test_a_folder_without_marks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="NAME"):
        read(tmp_path)


def test_annotated_cells_have_marked_nuclei_too() -> None:
    image = annotated(0)
    marked = MarkedNuclei.from_cells(image)
    assert len(marked.points) == np.unique(image.nucleus_labels[image.nucleus_labels > 0]).size


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_marks_stay_on_their_nuclei_at_another_size(factor: float) -> None:
    labels = np.zeros((60, 80), np.int32)
    labels[10:20, 12:22], labels[40:54, 50:60] = 1, 2
    image = np.where(labels > 0, 60, 200).astype(np.uint8)
    whole = MarkedNuclei("whole", image, np.array([[14.5, 16.5], [46.5, 54.5]]), labels, labels == 0)
    seen = whole.resize(factor)
    assert (seen.image.dtype, seen.image.shape) == (np.uint8, (round(60 * factor), round(80 * factor)))
    assert seen.labels is not None and seen.unknown is not None
    np.testing.assert_array_equal(seen.unknown, seen.labels == 0)
    for number, point in enumerate(seen.points, start=1):
        own = seen.labels == number
        np.testing.assert_allclose(point, np.argwhere(own).mean(axis=0), atol=0.5)
        assert own.sum() == pytest.approx(factor**2 * (labels == number).sum(), rel=0.05)
        assert seen.image[own].mean() < 90
