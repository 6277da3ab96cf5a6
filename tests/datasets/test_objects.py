from __future__ import annotations

from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest

import declump
from declump import datasets
from declump.datasets import AnnotatedImage, labels, objects

SHAPE = (60, 80)


def disc(row: float, column: float, radius: float) -> np.ndarray:
    rows, columns = np.indices(SHAPE)
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def ring() -> np.ndarray:
    return disc(30, 40, 20) & ~disc(30, 40, 10)


def write_objects(folder: Path, masks: list[np.ndarray]) -> None:
    (folder / "objects").mkdir(parents=True)
    imageio.imwrite(folder / "image.png", np.full(SHAPE, 90, np.uint8))
    for number, mask in enumerate(masks):
        imageio.imwrite(folder / "objects" / f"{number:03d}.png", np.where(mask, 255, 0).astype(np.uint8))


def test_masks_of_objects_are_read_with_their_centroids(tmp_path):
    write_objects(tmp_path / "b", [disc(30, 30, 12), disc(30, 45, 12)])
    write_objects(tmp_path / "a", [])
    first, second = datasets.read(tmp_path)
    assert (first.name, len(first.cells), second.name) == ("a", 0, "b")
    np.testing.assert_array_equal(second.cells, [disc(30, 30, 12), disc(30, 45, 12)])
    np.testing.assert_allclose(second.seeds, [(30, 30), (30, 45)])
    assert not second.nucleus_labels.any()


def test_a_centroid_outside_is_moved_into_the_object():
    record = objects.of_objects("ring", np.zeros(SHAPE, np.uint8), ring()[None])
    row, column = record.seeds[0].astype(int)
    assert record.cells[0, row, column]


def test_label_images_are_read(tmp_path):
    numbers = np.zeros(SHAPE, np.uint16)
    numbers[disc(20, 20, 8)], numbers[disc(40, 60, 8)] = 300, 7
    imageio.imwrite(tmp_path / "x.tif", numbers)
    imageio.imwrite(tmp_path / "a.png", np.where(disc(20, 20, 8) | disc(40, 60, 8), 255, 0).astype(np.uint8))
    mask, labelled = datasets.read(tmp_path)
    assert (mask.name, labelled.name) == ("a.png", "x.tif")
    np.testing.assert_allclose(mask.seeds, [(20, 20), (40, 60)])
    np.testing.assert_allclose(labelled.seeds, [(40, 60), (20, 20)])
    np.testing.assert_array_equal(labelled.image > 0, numbers > 0)


def test_a_prior_is_learnt_from_labels(tmp_path):
    for number, radius in enumerate((9, 10, 12)):
        imageio.imwrite(tmp_path / f"{number}.png", np.where(disc(30, 40, radius), 255, 0).astype(np.uint8))
    prior = declump.learn_prior(datasets.read(tmp_path), rays=36)
    assert prior.card["whole cells"] == 3 and abs(prior.mean.mean() - 10.5) < 0.5


def test_nuclei_that_are_star_like_become_the_objects():
    cells = np.stack([disc(30, 20, 18), disc(30, 60, 18), disc(30, 40, 25)])
    nuclei = np.zeros(SHAPE, np.int32)
    nuclei[disc(30, 20, 6)] = 1
    nuclei[disc(30, 40, 20) & ~disc(30, 40, 16) & (np.indices(SHAPE)[1] > 34)] = 3
    seeds = np.array([(30.0, 20), (30, 60), (30, 55)])
    record = objects.nuclei_of(AnnotatedImage("cells", np.zeros(SHAPE, np.uint8), cells, nuclei, seeds))
    np.testing.assert_array_equal(record.cells, [disc(30, 20, 6)])
    np.testing.assert_allclose(record.seeds, [(30, 20)])


def test_what_is_missing_or_empty_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="ID/objects"):
        objects.read(tmp_path)
    with pytest.raises(FileNotFoundError, match="No PNG or TIFF"):
        labels.read(tmp_path)
    (tmp_path / "a" / "objects").mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match=r"image\.png"):
        datasets.read(tmp_path)
    with pytest.raises(ValueError, match=r"object 0 .* empty"):
        objects.of_objects("none", np.zeros(SHAPE, np.uint8), np.zeros((1, *SHAPE), bool))
