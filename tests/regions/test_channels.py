from __future__ import annotations

import numpy as np
import pytest

from declump import simulate
from declump.regions.channels import ImageChannels, is_flat, to_channels


def picture(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(60, 240, (12, 17)).astype(np.uint8)


def test_exposure_and_depth_do_not_matter() -> None:
    grey = picture()
    for other in (grey.astype(np.uint16) * 257, grey / 255.0, grey.astype(np.float32) * 3):
        np.testing.assert_allclose(to_channels(other), to_channels(grey), rtol=1e-5, atol=1e-6)


def test_grey_has_no_chrominance_and_equals_grey_colour() -> None:
    grey = picture()
    assert not to_channels(grey)[1:].any()
    np.testing.assert_allclose(to_channels(np.repeat(grey[..., None], 3, axis=2)), to_channels(grey), atol=1e-5)


def test_colour_is_kept_and_alpha_ignored() -> None:
    colour = np.random.default_rng(1).integers(0, 255, (9, 8, 3)).astype(np.uint8)
    opaque = np.concatenate([colour, np.full((9, 8, 1), 7, np.uint8)], axis=2)
    np.testing.assert_array_equal(to_channels(opaque), to_channels(colour))
    assert np.abs(to_channels(colour)[1:]).max() > 0.05


@pytest.mark.parametrize("image", [np.zeros((0, 4)), np.zeros(5), np.zeros((3, 3, 2)), np.full((4, 4), np.nan)])
def test_what_is_no_image_is_refused(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="an image"):
        to_channels(image)


def test_a_black_image_gives_finite_numbers() -> None:
    assert np.isfinite(to_channels(np.zeros((5, 5), np.uint8))).all()


def test_an_inverted_image_is_turned_round() -> None:
    smear = simulate.smear((256, 300), cells=5, rng=4)
    upright, turned = to_channels(smear.image), to_channels(255 - smear.image)
    assert np.corrcoef(upright[0].ravel(), turned[0].ravel())[0, 1] > 0.99
    assert np.median(turned[0]) > 0.8


@pytest.mark.parametrize("level", [0, 7, 255])
def test_blank_and_saturated_images_are_flat(level: int) -> None:
    assert is_flat(to_channels(np.full((30, 40), level, np.uint8)))


def test_an_image_with_cells_is_not_flat() -> None:
    assert not is_flat(to_channels(simulate.smear((128, 160), cells=3, rng=4).image))


def test_masked_images_are_refused() -> None:
    with pytest.raises(ValueError, match="masked array"):
        ImageChannels(np.ma.masked_array(np.zeros((4, 4))))


def test_numbers_beyond_all_measure_are_refused_without_a_warning() -> None:
    with pytest.raises(ValueError, match="finite numbers"):
        to_channels(np.full((4, 4), 1e300))
