from __future__ import annotations

import numpy as np
import pytest

from declump.measurements.cover import cover
from declump.measurements.density import DARKEST, optical_densities
from declump.records.segmentation import Segmentation
from declump.regions.channels import ImageChannels

SHAPE = (120, 160)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]


def two_cells() -> tuple[Segmentation, np.ndarray]:
    """Two overlapping discs and their nuclei."""
    seeds = np.array([[60.0, 50.0], [60.0, 90.0]])
    nuclei = np.zeros(SHAPE, dtype=np.int32)
    for index, (row, column) in enumerate(seeds):
        nuclei[np.hypot(ROWS - row, COLUMNS - column) < 6] = index + 1
    return Segmentation(SHAPE, seeds, np.full((2, 180), 28.0), np.zeros(2, dtype=np.int64), (), nuclei), nuclei


def picture() -> np.ndarray:
    """Transmittance: 1 outside, 1/2 in the cytoplasm, 1/4 where cells overlap, 1/10 in nuclei."""
    cells, nuclei = two_cells()
    return np.where(nuclei > 0, 0.1, 0.5 ** cells.masks.sum(axis=0))


@pytest.mark.parametrize("kind", ["grey", "uint8", "uint16", "rgb", "rgba", "float"])
def test_density_of_what_lies_outside_overlaps(kind):
    cells, nuclei = two_cells()
    image = {
        "grey": 200 * picture(),
        "float": picture(),
        "uint8": np.round(200 * picture()).astype(np.uint8),
        "uint16": np.round(50000 * picture()).astype(np.uint16),
        "rgb": np.round(200 * picture()[..., None] * np.ones(3)).astype(np.uint8),
        "rgba": np.round(200 * picture()[..., None] * (1, 1, 1, 0.5)).astype(np.uint8),
    }[kind]
    whole, cytoplasm, nucleus = optical_densities(cover(cells), nuclei, ImageChannels(image))
    np.testing.assert_allclose(cytoplasm, np.log10(2), atol=1e-3)
    np.testing.assert_allclose(nucleus, 1, atol=1e-3)
    assert (whole > cytoplasm).all()
    assert (whole < nucleus).all()


def test_colour_counts_by_its_luminance():
    cells, nuclei = two_cells()
    image = np.full((*SHAPE, 3), 250, dtype=np.uint8)
    image[cells.masks.any(axis=0)] = (250, 100, 250)
    expected = -np.log10((0.413 * 250 + 0.587 * 100) / 250)
    np.testing.assert_allclose(optical_densities(cover(cells), nuclei, ImageChannels(image))[1], expected, atol=1e-5)


def test_nothing_left_outside_overlaps_is_not_known():
    cells, nuclei = two_cells()
    twins = Segmentation(SHAPE, cells.seeds[[0, 0]], cells.radii, cells.clump)
    assert np.isnan(optical_densities(cover(twins), nuclei, ImageChannels(picture()))).all()


def test_without_image_or_nuclei():
    cells, nuclei = two_cells()
    assert np.isnan(optical_densities(cover(cells), nuclei, None)).all()
    whole, cytoplasm, nucleus = optical_densities(cover(cells), None, ImageChannels(picture()))
    assert np.isfinite(whole).all()
    assert np.isnan([cytoplasm, nucleus]).all()


def test_black_pixels_have_a_finite_density():
    cells, nuclei = two_cells()
    image = np.where(nuclei > 0, 0, 255).astype(np.uint8)
    np.testing.assert_allclose(
        optical_densities(cover(cells), nuclei, ImageChannels(image))[2], -np.log10(DARKEST), rtol=1e-5
    )


@pytest.mark.parametrize("shape", [(160, 120), (120, 160, 3, 1), (120,), (119, 160, 3)])
def test_an_image_of_another_size_is_refused(shape):
    cells, nuclei = two_cells()
    with pytest.raises(ValueError, match="image"):
        optical_densities(cover(cells), nuclei, ImageChannels(np.zeros(shape)))
