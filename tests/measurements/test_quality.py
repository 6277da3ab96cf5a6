from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from declump import measure, segment, simulate
from declump.measurements.quality import GOOD, MIN_FOCUS, VERDICTS, judge_quality, measure_focus
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
        ({"focus": 0.3}, "blurred"),
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


def test_every_measured_image_has_a_verdict() -> None:
    result = segment(SMEAR.image)
    assert measure(result, SMEAR.image).image["quality"] == GOOD
    blurred = ndimage.gaussian_filter(SMEAR.image, 5)
    assert measure(result, blurred).image["quality"] == "blurred"
    nothing = np.full((60, 80), 230, np.uint8)
    assert measure(segment(nothing), nothing).image["quality"] == "empty"
