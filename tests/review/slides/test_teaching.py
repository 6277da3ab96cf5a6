"""The corrected clumps of a slide are data to learn from; what nobody looked at is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import declump
from declump.review.edits import DeleteCell, Edit, JudgeCell, PullOutline
from declump.review.slides.image import ReviewedSlide


def review(out: Path, *edits: Edit) -> ReviewedSlide:
    image = ReviewedSlide(out)
    for number, edit in enumerate(edits):
        image.session.make(edit)
        image.log.append(edit.to_record(), f"edit-{number}")
    image.save()
    image.close()
    return image


def pull(out: Path, number: int) -> PullOutline:
    row, column = declump.io.open_slide_result(out).read_window().seeds[number - 1].astype(float).tolist()
    return PullOutline(number, row + 35, column)


def test_a_slide_teaches_its_corrected_clumps_alone(slide_results: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No clump of the slide"):
        declump.datasets.read(slide_results)
    image = review(slide_results, pull(slide_results, 3), DeleteCell(4))
    (piece,) = image.session.edited
    (taught,) = declump.datasets.read(slide_results)
    assert len(taught.cells) == len(piece.numbers)
    slide = image.run.slide.read(piece.box)
    row, column = (int(part) for part in taught.name.split()[1::2])
    height, width = taught.image.shape[:2]
    corner = row - piece.box.top, column - piece.box.left
    np.testing.assert_array_equal(taught.image, slide[corner[0] : corner[0] + height, corner[1] : corner[1] + width])
    window = (slice(corner[0], corner[0] + height), slice(corner[1], corner[1] + width))
    assert taught.unknown is not None
    beside = (piece.view.labels[window] > 1) & ~taught.clump
    assert taught.unknown[beside].all()
    inner = taught.clump & (taught.nucleus_labels == 0)
    assert taught.unknown[inner].mean() < 0.2 and not taught.unknown[~taught.clump].all()


def test_rejected_cells_teach_nothing_and_undone_edits_neither(slide_results: Path) -> None:
    image = review(slide_results, pull(slide_results, 3), JudgeCell(3, "rejected"))
    (piece,) = image.session.edited
    (taught,) = declump.datasets.read(slide_results)
    assert len(taught.cells) == len(piece.numbers) - 1
    again = ReviewedSlide(slide_results)
    for name in ("undo", "undo"):
        again.session.replay({"edit": name})
        again.log.append({"edit": name}, f"{name}-{len(again.log.records)}")
    again.save()
    again.close()
    with pytest.raises(FileNotFoundError, match="No clump of the slide"):
        declump.datasets.read(slide_results)


def test_a_network_learns_from_a_slide(slide_results: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs the extra 'train'")
    review(slide_results, pull(slide_results, 3))
    curve = declump.training.train_region_model(
        [declump.datasets.read_known(slide_results)],
        tmp_path / "own.onnx",
        declump.training.Schedule(1, 1),
        simulated=0,
    )
    assert np.isfinite(curve[-1]["loss"])
