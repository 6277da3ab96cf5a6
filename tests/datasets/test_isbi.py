from __future__ import annotations

import dataclasses
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest
import scipy.io
import scipy.ndimage

from declump.datasets import AnnotatedImage, assign_nuclei, isbi2014, isbi2015
from declump.evaluation import dice_matrix

SHAPE = (60, 80)


def disc(row: float, column: float, radius: float, shape: tuple[int, int] = SHAPE) -> np.ndarray:
    rows, columns = np.indices(shape)
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def two_cells() -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping cells and the union of their nuclei."""
    cells = np.stack([disc(30, 28, 20), disc(30, 50, 20)])
    return cells, disc(30, 28, 4) | disc(30, 50, 4)


# Nuclei


def test_each_cell_gets_the_nucleus_in_its_middle_though_both_contain_both():
    cells = np.stack([disc(30, 35, 25), disc(30, 45, 25)])
    labels, seeds = assign_nuclei(cells, disc(30, 35, 3) | disc(30, 45, 3))
    np.testing.assert_allclose(seeds, [[30, 35], [30, 45]])
    np.testing.assert_array_equal(labels == 1, disc(30, 35, 3))
    np.testing.assert_array_equal(labels == 2, disc(30, 45, 3))


def test_a_nucleus_in_a_single_cell_goes_to_that_cell_though_another_is_more_central():
    cells = np.stack([disc(30, 35, 24), disc(30, 52, 18)])
    eccentric, shared = disc(30, 16, 3), disc(30, 42, 3)
    _, seeds = assign_nuclei(cells, eccentric | shared)
    np.testing.assert_allclose(seeds, [[30, 16], [30, 42]])


def test_a_speck_in_a_single_cell_does_not_displace_the_nucleus():
    cells = np.stack([disc(30, 28, 20), disc(30, 50, 20)])
    nuclei = disc(30, 30, 5) | disc(30, 41, 2) | disc(30, 52, 5)
    nuclei[30, 12] = True
    _, seeds = assign_nuclei(cells, nuclei)
    np.testing.assert_allclose(seeds, [[30, 30], [30, 52]])


@pytest.mark.parametrize("gap", [3, 7], ids=["overlapping", "with a waist"])
def test_nuclei_that_touch_are_cut_so_that_each_cell_has_its_own(gap):
    cells = np.stack([disc(30, 33, 22), disc(30, 47, 22)])
    left, right = 40 - gap / 2, 40 + gap / 2
    union = disc(30, left, 4) | disc(30, right, 4)
    labels, seeds = assign_nuclei(cells, union)
    np.testing.assert_array_equal(labels > 0, union)
    np.testing.assert_allclose(seeds, [[30, left], [30, right]], atol=1.5)


def test_one_component_serves_three_cells():
    cells = np.stack([disc(30, column, 18) for column in (31, 40, 49)])
    union = disc(30, 33, 4) | disc(30, 40, 4) | disc(30, 47, 4)
    labels, seeds = assign_nuclei(cells, union)
    assert set(np.unique(labels)) == {0, 1, 2, 3}
    assert (np.diff(seeds[:, 1]) > 4).all()


def test_components_that_touch_at_a_corner_are_one_nucleus():
    cells = disc(30, 40, 20)[None]
    nuclei = np.zeros(SHAPE, bool)
    nuclei[28:31, 38:41] = nuclei[31:34, 41:44] = True
    labels, _ = assign_nuclei(cells, nuclei)
    np.testing.assert_array_equal(labels > 0, nuclei)


def test_a_cell_without_nucleus_is_seeded_at_its_deepest_point():
    cells = np.stack([disc(30, 20, 12), disc(30, 60, 12)])
    labels, seeds = assign_nuclei(cells, disc(30, 20, 3))
    np.testing.assert_allclose(seeds, [[30, 20], [30, 60]], atol=1)
    assert not (labels == 2).any()


def test_the_nucleus_is_clipped_to_its_cell_and_a_hollow_one_is_seeded_on_a_pixel():
    cells = disc(30, 40, 15)[None]
    labels, seeds = assign_nuclei(cells, disc(30, 52, 8))
    assert not (labels[~cells[0]] > 0).any()
    ring = disc(30, 40, 8) & ~disc(30, 40, 5)
    labels, seeds = assign_nuclei(cells, ring)
    row, column = seeds[0].astype(int)
    assert ring[row, column]


def test_surplus_components_and_images_without_cells():
    cells = disc(30, 20, 12)[None]
    labels, seeds = assign_nuclei(cells, disc(30, 20, 3) | disc(30, 60, 3))
    np.testing.assert_array_equal(labels, disc(30, 20, 3))
    labels, seeds = assign_nuclei(cells[:0], disc(30, 20, 3))
    assert not labels.any() and seeds.shape == (0, 2)


@pytest.mark.parametrize("n_nuclei", [0, 1, 4, 8])
def test_every_seed_lies_in_its_cell(n_nuclei):
    rng = np.random.default_rng(n_nuclei)
    for _ in range(10):
        cells = np.stack([disc(*rng.uniform((0, 0), SHAPE), rng.uniform(6, 25)) for _ in range(6)])
        nuclei = np.zeros(SHAPE, bool)
        for _ in range(n_nuclei):
            nuclei |= disc(*rng.uniform((0, 0), SHAPE), rng.uniform(1, 6))
        labels, seeds = assign_nuclei(cells, nuclei)
        rows, columns = np.rint(seeds).astype(int).T
        assert cells[np.arange(6), rows, columns].all()
        assert all(not (labels[~cell] == index + 1).any() for index, cell in enumerate(cells))
        assert not labels[~nuclei].any()


def test_assign_nuclei_refuses_other_images_and_empty_cells():
    cells, nuclei = two_cells()
    with pytest.raises(ValueError, match=r"got \(2, 60, 80\) and \(50, 80\)"):
        assign_nuclei(cells, nuclei[:50])
    cells[1] = False
    with pytest.raises(ValueError, match=r"cell 1 .* empty mask"):
        assign_nuclei(cells, nuclei)


# The record


def test_record_derives_nuclei_and_clump():
    cells, nuclei = two_cells()
    record = AnnotatedImage.from_union("pair", np.zeros(SHAPE, np.uint8), cells, nuclei)
    np.testing.assert_array_equal(record.clump, cells[0] | cells[1])
    assert record.nuclei.shape == cells.shape and record.nuclei.dtype == bool
    np.testing.assert_array_equal(record.nuclei.any(axis=0), nuclei)
    np.testing.assert_array_equal(record.nuclei[0], disc(30, 28, 4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image": np.zeros(SHAPE)}, "uint8"),
        ({"image": np.zeros((*SHAPE, 4), np.uint8)}, "uint8"),
        ({"cells": np.zeros((2, 5, 5), bool)}, r"\(N, 60, 80\) bool"),
        ({"nucleus_labels": np.zeros((5, 5), np.int32)}, "nucleus labels"),
        ({"seeds": np.zeros((1, 2))}, r"seeds of shape \(2, 2\)"),
        ({"seeds": np.zeros((2, 2))}, "inside the mask"),
        ({"seeds": np.full((2, 2), 1e3)}, "inside the mask"),
    ],
)
def test_record_refuses_what_does_not_belong_together(change, message):
    record = AnnotatedImage.from_union("pair", np.zeros(SHAPE, np.uint8), *two_cells())
    with pytest.raises(ValueError, match=f"pair: .*{message}"):
        dataclasses.replace(record, **change)


# ISBI 2014


def cell_array(items: list) -> np.ndarray:
    array = np.empty((len(items), 1), object)
    array[:, 0] = items
    return array


def write_isbi2014(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    cells, nuclei = two_cells()
    image = np.arange(np.prod(SHAPE), dtype=np.uint8).reshape(SHAPE)
    scipy.io.savemat(folder / "isbi_train.mat", {"ISBI_Train": cell_array([image, image[::-1]])})
    truth = {
        "train_Cytoplasm": cell_array([cell_array(list(masks.view(np.uint8))) for masks in (cells, cells[1:])]),
        "train_Nuclei": cell_array([nuclei.astype(np.uint8), nuclei.astype(np.uint8)]),
    }
    scipy.io.savemat(folder / "isbi_train_GT.mat", truth)
    return image, cells


def test_isbi2014_reads_the_matlab_files(tmp_path):
    image, cells = write_isbi2014(tmp_path)
    first, second = isbi2014.read(tmp_path)
    assert (first.name, second.name) == ("train00", "train01")
    np.testing.assert_array_equal(first.image, image)
    np.testing.assert_array_equal(first.cells, cells)
    np.testing.assert_array_equal(second.cells, cells[1:])
    np.testing.assert_allclose(first.seeds, [[30, 28], [30, 50]])


def test_isbi2014_says_what_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"isbi_train\.mat and isbi_train_GT\.mat"):
        isbi2014.read(tmp_path)
    write_isbi2014(tmp_path)
    truth = tmp_path / "isbi_train_GT.mat"
    scipy.io.savemat(truth, {"other": 1})
    with pytest.raises(ValueError, match="no cell array train_Cytoplasm"):
        isbi2014.read(tmp_path)
    truth.write_bytes(b"no matlab file" * 20)
    with pytest.raises(ValueError, match="cannot be read as a Matlab file"):
        isbi2014.read(tmp_path)


def test_isbi2014_refuses_files_that_do_not_belong_together(tmp_path):
    write_isbi2014(tmp_path)
    scipy.io.savemat(tmp_path / "isbi_train.mat", {"ISBI_Train": cell_array([np.zeros(SHAPE, np.uint8)])})
    with pytest.raises(ValueError, match="1 images, but cells of 2"):
        isbi2014.read(tmp_path)
    small = [np.zeros((5, 5), np.uint8), np.zeros((5, 6), np.uint8)]
    scipy.io.savemat(tmp_path / "isbi_train.mat", {"ISBI_Train": cell_array(small)})
    with pytest.raises(ValueError, match="train00: a cell's mask has shape"):
        next(isbi2014.read(tmp_path))


# ISBI 2015


def write_frame(folder: Path, image: np.ndarray, cells: np.ndarray, nuclei: np.ndarray) -> None:
    (folder / "cells").mkdir(parents=True)
    imageio.imwrite(folder / "image.png", image)
    imageio.imwrite(folder / "nuclei.png", nuclei.astype(np.uint8) * 255)
    for index, cell in enumerate(cells):
        imageio.imwrite(folder / "cells" / f"cell{index:03d}.png", cell.astype(np.uint8) * 255)


def test_isbi2015_reads_frames_in_order_grey_and_colour(tmp_path):
    cells, nuclei = two_cells()
    colour = np.random.default_rng(0).integers(0, 256, (*SHAPE, 4), dtype=np.uint8)
    write_frame(tmp_path / "frame010", colour[..., 0], cells, nuclei)
    write_frame(tmp_path / "frame002", colour[..., :3], cells, nuclei)
    write_frame(tmp_path / "frame003", colour, cells[:0], nuclei)
    (tmp_path / "notes").mkdir()
    second, third, tenth = isbi2015.read(tmp_path)
    assert [second.name, third.name, tenth.name] == ["frame002", "frame003", "frame010"]
    np.testing.assert_array_equal(second.image, colour[..., :3])
    np.testing.assert_array_equal(third.image, colour[..., :3])
    np.testing.assert_array_equal(tenth.image, colour[..., 0])
    np.testing.assert_array_equal(second.cells, cells)
    assert third.cells.shape == (0, *SHAPE) and third.seeds.shape == (0, 2) and not third.clump.any()


def test_isbi2015_takes_masks_with_colour_or_opacity(tmp_path):
    cells, nuclei = two_cells()
    write_frame(tmp_path / "a", np.zeros(SHAPE, np.uint8), cells, nuclei)
    red = np.zeros((*SHAPE, 4), np.uint8)
    red[..., 0], red[..., 3] = cells[0] * 200, 255
    imageio.imwrite(tmp_path / "a" / "cells" / "cell000.png", red)
    grey = np.stack([cells[1] * np.uint8(255), np.full(SHAPE, 255, np.uint8)], axis=2)
    imageio.imwrite(tmp_path / "a" / "cells" / "cell001.png", grey)
    (record,) = isbi2015.read(tmp_path)
    np.testing.assert_array_equal(record.cells, cells)


def test_isbi2015_says_what_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No frames in .*FRAME/image\.png"):
        isbi2015.read(tmp_path)
    write_frame(tmp_path / "a", np.zeros(SHAPE, np.uint8), *two_cells())
    (tmp_path / "a" / "nuclei.png").unlink()
    with pytest.raises(FileNotFoundError, match=r"nuclei\.png; the ISBI 2015 reader"):
        isbi2015.read(tmp_path)


def test_isbi2015_refuses_pictures_it_cannot_use(tmp_path):
    cells, nuclei = two_cells()
    write_frame(tmp_path / "a", np.zeros(SHAPE, np.uint16), cells, nuclei)
    with pytest.raises(ValueError, match="8 bits a channel"):
        next(isbi2015.read(tmp_path))
    imageio.imwrite(tmp_path / "a" / "image.png", np.zeros((50, 80), np.uint8))
    with pytest.raises(ValueError, match=r"cell000\.png has shape \(60, 80\), its image \(50, 80\)"):
        next(isbi2015.read(tmp_path))
    (tmp_path / "a" / "image.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match="cannot be read as a picture"):
        next(isbi2015.read(tmp_path))


# The real data


def without_nucleus(record: AnnotatedImage) -> int:
    return len(record.cells) - len(np.unique(record.nucleus_labels[record.nucleus_labels > 0]))


def sharing_a_component(record: AnnotatedImage) -> list[tuple[int, ...]]:
    """Cells, counted from 0, whose nuclei are one component of the union of all nuclei."""
    components, count = scipy.ndimage.label(record.nucleus_labels, np.ones((3, 3)))
    owners = [np.unique(record.nucleus_labels[components == k + 1]) - 1 for k in range(count)]
    return sorted(tuple(map(int, cells)) for cells in owners if len(cells) > 1)


@pytest.mark.data
def test_isbi2014_training_images(isbi2014_folder):
    records = list(isbi2014.read(isbi2014_folder))
    assert len(records) == 45
    assert sum(len(record.cells) for record in records) == 270
    assert sum(map(without_nucleus, records)) == 0
    assert {record.image.shape for record in records} == {(512, 512)}


@pytest.mark.data
def test_isbi2015_training_frames(isbi2015_folder):
    counts, cut = {}, {}
    for record in isbi2015.read(isbi2015_folder):
        assert record.image.shape == (1024, 1024)
        assert without_nucleus(record) == 0
        counts[record.name] = len(record.cells)
        cut[record.name] = sharing_a_component(record)
    # Checked by eye: the nuclei of these pairs of cells touch or overlap in the picture.
    assert {name: pairs for name, pairs in cut.items() if pairs} == {
        "frame004": [(20, 21), (29, 30)],
        "frame007": [(21, 22)],
        "frame010": [(15, 16), (37, 38)],
        "frame011": [(40, 41)],
        "frame017": [(11, 12)],
    }
    assert list(counts.values()) == [33, 49, 46, 50, 26, 31, 48, 37]


@pytest.mark.data
def test_two_isbi2015_frames_show_the_same_cells(isbi2015_folder):
    frames = {record.name: record for record in isbi2015.read(isbi2015_folder)}
    first, second = frames["frame014"], frames["frame017"]
    rows, columns = 418, 263
    assert np.corrcoef(first.image[rows:, :-columns].flat, second.image[:-rows, columns:].flat)[0, 1] > 0.95
    dice = dice_matrix(first.cells[:, rows:, :-columns], second.cells[:, :-rows, columns:])
    agreement = dice.max(axis=1)[dice.max(axis=1) > 0.6]
    assert len(agreement) == 17
    assert np.median(agreement) == pytest.approx(0.96, abs=0.005)
    assert agreement.min() == pytest.approx(0.81, abs=0.005)
