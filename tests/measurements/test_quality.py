from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from skimage.color import hed2rgb, rgb2hed
from skimage.data import immunohistochemistry, page, text

from declump import measure, segment, simulate
from declump.data import pap, smear
from declump.measurements.quality import (
    GOOD,
    MIN_FOCUS,
    VERDICTS,
    Appearance,
    judge_quality,
    measure_appearance,
    measure_focus,
)
from declump.regions.channels import ImageChannels

SMEAR = simulate.smear((300, 320), cells=6, overlap=0.3, stain="grey", rng=3)


def test_a_blurred_image_has_less_focus_at_any_scale() -> None:
    sharp = measure_focus(ImageChannels(SMEAR.image), 22.0)
    blurred = [measure_focus(ImageChannels(ndimage.gaussian_filter(SMEAR.image, width)), 22.0) for width in (1, 2, 4)]
    assert sharp > blurred[0] > blurred[1] > blurred[2] and blurred[2] < MIN_FOCUS
    large = ndimage.zoom(SMEAR.image.astype(float), 2, order=1)
    assert measure_focus(ImageChannels(large), 44.0) == pytest.approx(sharp, rel=0.15)
    assert np.isnan(measure_focus(None, 22.0)) and np.isnan(measure_focus(ImageChannels(np.full((30, 30), 9)), np.nan))


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, GOOD),
        ({"cells": 0}, "empty"),
        ({"focus": 0.3}, "out of focus"),
        ({"leukocytes": 90}, "inflamed"),
        ({"leukocytes": 8, "cells": 3}, GOOD),
        ({"mean_confidence": 0.1}, "not a smear"),
        ({"shadow_share": 0.2}, "shaded"),
        ({"leukocytes": np.nan, "focus": np.nan, "shadow_share": np.nan}, GOOD),
    ],
)
def test_verdicts(change: dict[str, float], verdict: str) -> None:
    usual = {"cells": 20, "leukocytes": 4, "focus": 0.7, "mean_confidence": 0.8, "shadow_share": 0.0}
    assert judge_quality({**usual, **change}) == verdict
    assert verdict == GOOD or verdict in VERDICTS


USUAL = {"cells": 20, "leukocytes": 4, "focus": 0.7, "mean_confidence": 0.8, "shadow_share": 0.0}


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        (Appearance(), GOOD),
        (Appearance(red_cells=0.08, foreground=0.9), "too bloody"),
        (Appearance(red_cells=0.05, foreground=0.5), GOOD),
        (Appearance(red_cells=0.05, foreground=0.2), "too bloody"),
        (Appearance(red_cells=0.01, foreground=0.02), GOOD),
        (Appearance(thick=0.6, sheets=0.4), "too thick"),
        (Appearance(thick=0.6, sheets=0.04), GOOD),
        (Appearance(strokes=0.9), "not a smear"),
        (Appearance(magenta=0.99, foreground=0.9, strokes=0.6), "not a smear"),
        (Appearance(magenta=0.99, foreground=0.4, strokes=0.6), GOOD),
        (Appearance(magenta=0.99, foreground=0.9, strokes=0.1), GOOD),
    ],
)
def test_verdicts_by_appearance(seen: Appearance, verdict: str) -> None:
    assert judge_quality(USUAL, seen) == verdict


def blood(shape: tuple[int, int] = (500, 600)) -> np.ndarray:
    """Red cells of the usual size and colour on glass, and nothing else."""
    centres = np.random.default_rng(1).integers(0, shape, (160, 2))
    distance = ndimage.distance_transform_edt(
        ~np.isin(np.arange(np.prod(shape)), centres @ [shape[1], 1]).reshape(shape)
    )
    image = np.full((*shape, 3), 240, np.uint8)
    image[distance < 12] = 225, 140, 70
    return image


def h_and_e() -> np.ndarray:
    """The tissue that ships with scikit-image, its brown stain exchanged for eosin."""
    stained = rgb2hed(immunohistochemistry())
    stained[..., 1], stained[..., 2] = stained[..., 1] + stained[..., 2], 0
    return np.asarray(np.clip(hed2rgb(stained) * 255, 0, 255).astype(np.uint8))


@pytest.mark.parametrize(
    ("image", "verdict"),
    [
        (page(), "not a smear"),
        (np.dstack([page()] * 3), "not a smear"),
        (text(), "not a smear"),
        (h_and_e(), "not a smear"),
        (np.random.default_rng(0).integers(0, 5, (300, 400, 3)).astype(np.uint8), "not a smear"),
        (np.zeros((300, 400), np.uint16), "not a smear"),
        (blood(), "too bloody"),
        (SMEAR.image, GOOD),
        (simulate.smear((512, 512), cells=40, overlap=0.4, stain="he", rng=1).image, GOOD),
        (smear("pap").image, GOOD),
        (pap(), GOOD),
        (pap("inflamed"), GOOD),
    ],
)
def test_what_an_image_shows(image: np.ndarray, verdict: str) -> None:
    assert judge_quality(USUAL, measure_appearance(ImageChannels(image), np.nan)) == verdict
    large = ndimage.zoom(image, [2, 2, 1][: image.ndim], order=1)
    assert judge_quality(USUAL, measure_appearance(ImageChannels(large), 44.0)) == verdict


def test_dark_sheets_are_too_thick() -> None:
    image = np.full((400, 500), 240, np.uint8)
    image[100:300, 100:400] = 70
    seen = measure_appearance(ImageChannels(image), np.nan)
    assert seen is not None and 0.25 < seen.sheets < 0.35 and judge_quality(USUAL, seen) == "too thick"
    image[100:300, 100:400] = 170
    assert judge_quality(USUAL, measure_appearance(ImageChannels(image), np.nan)) == GOOD
    assert measure_appearance(None, np.nan) is None


@pytest.mark.parametrize("value", [0, 240])
def test_frames_that_show_nothing_have_no_cells_and_a_verdict(value: int) -> None:
    nothing = np.full((120, 160, 3), value, np.uint8)
    result = segment(nothing)
    assert len(result) == 0
    assert measure(result, nothing).image["quality"] == ("not a smear" if value == 0 else "empty")


def test_every_measured_image_has_a_verdict() -> None:
    result = segment(SMEAR.image)
    assert measure(result, SMEAR.image).image["quality"] == GOOD
    blurred = ndimage.gaussian_filter(SMEAR.image, 5)
    assert measure(result, blurred).image["quality"] == "out of focus"
    nothing = np.full((60, 80), 230, np.uint8)
    assert measure(segment(nothing), nothing).image["quality"] == "empty"
