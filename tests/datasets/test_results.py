"""Reviewed results are data to learn from; others are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

import declump
from declump.batch import Options, find_sources
from declump.datasets.results import annotate
from declump.review.album import open_album
from declump.review.edits import FinishImage, JudgeCell
from declump.review.images import ReviewedImage, prepare_image
from support.reviews import found_smear


def test_reviewed_images_are_read_without_rejected_cells(tmp_path: Path) -> None:
    image, _ = found_smear()
    (tmp_path / "smears").mkdir()
    for name in ("one", "two"):
        iio.imwrite(tmp_path / "smears" / f"{name}.png", image)
    album = open_album(tmp_path / "smears", tmp_path / "out")
    for entry in album.entries.values():
        entry.record = prepare_image(entry.source, Options(), entry.folder)
    album.write()
    with pytest.raises(FileNotFoundError, match="was reviewed"):
        declump.datasets.read(tmp_path / "out")

    source = find_sources([tmp_path / "smears" / "one.png"])[0]
    reviewed = ReviewedImage(source, Options(), tmp_path / "out" / "one")
    number = reviewed.session.numbers[1]
    for edit in (JudgeCell(number, "rejected"), FinishImage(True)):
        reviewed.session.make(edit)
        reviewed.log.append(edit.to_record(), edit.name)
    reviewed.save()
    reviewed.close()

    (annotated,) = declump.datasets.read(tmp_path / "out")
    result = declump.io.read(tmp_path / "out" / "one")
    assert annotated.name == "one" and len(annotated.cells) == len(result) - 1
    np.testing.assert_array_equal(annotated.cells[1], result.mask(2))
    np.testing.assert_array_equal(annotated.image, image)
    prior = declump.learn_prior([annotated])
    assert prior.mean.shape == (360,)
    (tmp_path / "smears" / "one.png").write_bytes((tmp_path / "smears" / "two.png").read_bytes() + b" ")
    with pytest.raises(ValueError, match="not the one that was reviewed"):
        list(declump.datasets.read(tmp_path / "out"))


def test_a_review_teaches_no_more_than_a_person_said() -> None:
    """Where nuclei end, where the nucleus of a cell without one lies, and what is under rejected cells is not known."""
    rows, columns = np.mgrid[:90, :200]
    discs = [np.hypot(rows - 45, columns - column) <= 30 for column in (35, 100, 165)]
    nuclei = np.zeros((90, 200), np.int32)
    nuclei[np.hypot(rows - 45, columns - 35) <= 10] = 1
    found = declump.Segmentation.from_masks(np.array(discs), [(45, 35), (45, 100), (45, 165)])
    taught = annotate(
        "one", np.zeros((90, 200), np.uint8), replace(found, nuclei=nuclei), np.array([False, False, True])
    )
    unknown = taught.unknown
    assert unknown is not None and len(taught.cells) == 2
    np.testing.assert_array_equal(unknown[45, [35, 42, 47]], [False, False, True])
    np.testing.assert_array_equal(unknown[45, [49, 100, 115, 125]], [False, True, True, False])
    np.testing.assert_array_equal(unknown[:, 133:], discs[2][:, 133:])
    nuclei[np.hypot(rows - 45, columns - 165) <= 5] = 3
    nuclei[np.hypot(rows - 45, columns - 100) <= 6] = 2
    again = annotate("one", np.zeros((90, 200), np.uint8), replace(found, nuclei=nuclei), np.zeros(3, np.bool_))
    assert again.unknown is not None
    np.testing.assert_array_equal(again.unknown[45, [35, 100, 165]], [True, False, False])  # one is too large


@pytest.mark.parametrize("seed", [(5.0, 6.0), (85.0, 195.0), (45.0, 196.0), (86.0, 100.0)])
def test_a_cell_without_a_nucleus_at_the_border_is_learnt_from(seed: tuple[float, float]) -> None:
    result = declump.Segmentation((90, 200), np.array([seed]), np.full((1, 360), 20.0), np.zeros(1, np.int64))
    taught = annotate("one", np.zeros((90, 200), np.uint8), result, np.zeros(1, np.bool_))
    assert taught.unknown is not None
    rows, columns = np.mgrid[:90, :200]
    near = np.hypot(rows - seed[0], columns - seed[1]) <= 22  # two radii of a usual nucleus
    np.testing.assert_array_equal(taught.unknown, near)
