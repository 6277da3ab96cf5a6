from __future__ import annotations

import numpy as np

from declump.datasets.marked import MarkedNuclei
from declump.regions.channels import to_channels
from declump.training.composites.colouring import colour_cells, colour_marked
from support.annotated_smears import annotated


def test_grey_cells_get_colour_and_keep_what_is_dark_and_what_is_where() -> None:
    grey = annotated(4, side=256, cells=6, radius=40, stain="grey", debris=0)
    for seed in range(4):
        made = colour_cells(grey, np.random.default_rng(seed))
        assert made.image.shape == (*grey.image.shape, 3) and (made.cells == grey.cells).all()
        before, after = to_channels(grey.image)[0], to_channels(made.image)[0]
        assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.97
        assert np.abs(before - after).mean() < 0.04
        saturation = np.ptp(made.image.astype(float), axis=2)
        assert saturation[grey.clump].mean() > 3 * saturation[~grey.clump].mean()


def test_cells_differ_in_hue_and_frames_follow_from_their_seed() -> None:
    grey = annotated(4, side=256, cells=6, radius=30, overlap=0, clumps=6, stain="grey", debris=0)
    made = colour_cells(grey, np.random.default_rng(5))
    assert (made.image == colour_cells(grey, np.random.default_rng(5)).image).all()
    lightness = made.image / np.maximum(made.image.mean(axis=2, keepdims=True), 1)
    inner = [cell & (grey.nucleus_labels == 0) for cell in grey.cells]
    hues = np.array([lightness[cell].mean(axis=0) for cell in inner])
    assert np.ptp(hues, axis=0).max() > 0.02
    assert colour_cells(made, np.random.default_rng(0)) is made


def test_what_is_nearest_to_a_marked_nucleus_takes_its_hue() -> None:
    grey = annotated(4, side=256, cells=6, radius=30, overlap=0, clumps=6, stain="grey", debris=0)
    drawn = MarkedNuclei.from_cells(grey)
    for marked in (drawn, MarkedNuclei(drawn.name, drawn.image, drawn.points)):
        made = colour_marked(marked, np.random.default_rng(5))
        assert made.image.shape == (*grey.image.shape, 3) and made.points is marked.points
        before, after = to_channels(grey.image)[0], to_channels(made.image)[0]
        assert np.abs(before - after).mean() < 0.04
        lightness = made.image / np.maximum(made.image.mean(axis=2, keepdims=True), 1)
        hues = np.array([lightness[cell & (grey.nucleus_labels == 0)].mean(axis=0) for cell in grey.cells])
        assert np.ptp(hues, axis=0).max() > 0.02
        assert colour_marked(made, np.random.default_rng(0)) is made


def test_an_image_without_a_nucleus_gets_one_hue() -> None:
    empty = MarkedNuclei("empty", np.full((20, 30), 150, np.uint8), np.empty((0, 2)))
    made = colour_marked(empty, np.random.default_rng(1)).image
    assert made.shape == (20, 30, 3) and (made == made[0, 0]).all()


def test_images_of_other_depths_are_coloured_alike() -> None:
    grey = MarkedNuclei.from_cells(annotated(4, side=128, cells=2, radius=30, stain="grey", debris=0))
    short = MarkedNuclei(grey.name, grey.image.astype(np.uint16) * 257, grey.points, grey.labels)
    unit = MarkedNuclei(grey.name, grey.image / 255, grey.points, grey.labels)
    eight, sixteen, floats = (colour_marked(one, np.random.default_rng(3)).image for one in (grey, short, unit))
    assert np.abs(sixteen.astype(int) - floats).max() <= 1
    assert np.abs(eight / eight.max() - sixteen / sixteen.max()).max() < 0.02
