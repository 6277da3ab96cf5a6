from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import declump
from declump import simulate
from declump.records.boxes import Box
from declump.records.statistics import ImageStatistics
from declump.regions.channels import ImageChannels, has_dark_background, to_channels
from declump.regions.light import SMALLEST, UNLIT, find_light

SMEAR = simulate.smear((520, 640), cells=14, clumps=4, overlap=0.3, stain="pap", rng=2)
GREY = np.asarray(SMEAR.image[..., :3].mean(axis=2) if SMEAR.image.ndim == 3 else SMEAR.image, np.float64)
ROWS, COLUMNS = np.mgrid[: GREY.shape[0], : GREY.shape[1]] / (min(GREY.shape) - 1)
ACROSS = COLUMNS / COLUMNS.max()


def expose(light: np.ndarray) -> np.ndarray:
    return np.rint(GREY * light).astype(np.uint8)


def in_a_field(radius: float) -> np.ndarray:
    """Lit within a disc round the middle, black outside."""
    return (np.hypot(ROWS - ROWS.max() / 2, COLUMNS - COLUMNS.max() / 2) < radius).astype(float)


def in_a_shadow(width: float, depth: float = 0.08) -> np.ndarray:
    """In the dark from the left on, then ever lighter."""
    return np.clip((ACROSS - width) / 0.35, depth, 1)


def test_an_evenly_lit_image_stays_as_it_is() -> None:
    assert find_light(to_channels(GREY)[0]) is None
    picture = ImageChannels(SMEAR.image)
    assert picture.shadow_share == 0
    assert np.isclose(np.percentile(picture.channels[0], 95), 1)


@settings(max_examples=15, deadline=None)
@given(st.floats(-0.35, 0.35), st.floats(-0.35, 0.35), st.floats(0, 0.25))
def test_a_slanted_or_dim_field_is_found(down: float, across: float, dim: float) -> None:
    light = np.exp(-(down * ROWS + across * COLUMNS + dim * ((ROWS - 0.5) ** 2 + (COLUMNS - 0.6) ** 2)))
    light /= light.max()
    found = find_light(np.asarray(GREY * light / np.percentile(GREY * light, 95), np.float32))
    if found is None:
        assert light.min() > 0.75
    else:
        share, unlit = found.see(Box(0, 0, *GREY.shape))
        assert np.abs(share / share.mean() - light / light.mean()).max() < 0.06
        assert not unlit.any()


def test_a_slanted_image_shows_the_same_as_an_even_one() -> None:
    even, slanted = to_channels(GREY)[0], to_channels(expose(1 - 0.5 * ACROSS))[0]
    assert np.abs(slanted - even).mean() < 0.02
    assert np.abs(slanted - even).max() < 0.1


def test_light_is_left_as_it_is_where_the_exposure_is_given() -> None:
    slanted = expose(1 - 0.5 * ACROSS)
    exposure = declump.find_statistics(SMEAR.image).exposure
    assert np.allclose(to_channels(slanted, exposure)[0], slanted / exposure.background, atol=1e-6)


@pytest.mark.parametrize("radius", [0.5, 0.6])
def test_what_is_black_round_a_field_is_background(radius: float) -> None:
    light = in_a_field(radius)
    picture = ImageChannels(expose(light))
    outside = light == 0
    assert 0.1 < outside.mean() < 0.5
    assert (picture.channels[0][outside] == 1).mean() > 0.99
    assert picture.shadow_share == 0
    inside = in_a_field(radius - 0.03) == 1
    assert np.abs(picture.channels[0] - to_channels(GREY)[0])[inside].mean() < 0.01


def test_an_image_is_not_turned_round_for_what_is_black_round_its_field() -> None:
    light = in_a_field(0.5)
    assert not has_dark_background(expose(light))
    assert has_dark_background(255 - GREY)


def test_no_cells_are_found_in_a_shadow() -> None:
    light = in_a_shadow(0.15)
    dark = expose(light)
    result = declump.segment(dark)
    seeds = np.rint(result.seeds).astype(int)
    assert len(seeds) and (light[tuple(seeds.T)] > 0.3).all()
    deep = light < 0.3
    assert result.masks[:, deep].any(axis=0).mean() < 0.05
    summary = declump.measure(result, dark).image
    assert summary["quality"] == "shaded"
    assert summary["shadow_share"] == pytest.approx(np.mean(light < UNLIT), abs=0.05)


def test_cells_beside_a_shadow_are_found_as_in_full_light() -> None:
    light = in_a_shadow(0.02)
    lit = np.array([mask for mask in SMEAR.cells if light[mask].min() > 0.6])
    found = [declump.score(lit, declump.segment(image).masks).dice_all for image in (GREY, expose(light))]
    assert len(lit) >= 4
    assert found[1] > found[0] - 0.05


def test_a_dark_pile_of_cells_is_no_shadow() -> None:
    pile = np.where((ROWS < 0.5) & (COLUMNS < 0.6), 0.3, 1.0)
    assert find_light(np.asarray(pile + 0.02 * np.random.default_rng(0).normal(size=pile.shape), np.float32)) is None


@pytest.mark.parametrize("light", [1 - 0.5 * ACROSS, in_a_field(0.5), in_a_shadow(0.15)])
def test_any_part_is_corrected_as_the_whole_is(light: np.ndarray) -> None:
    image = expose(light)
    picture, box = ImageChannels(image), Box(37, 211, 401, 333)
    assert picture.exposure.light is not None
    known = ImageStatistics(picture.exposure.background, None, 22.0, light=picture.exposure.light)
    read = ImageStatistics.from_record(json.loads(json.dumps(known.to_record())))
    assert read == known
    part = to_channels(image[box.slices], read.exposure, box)
    assert part.tobytes() == picture.channels[:, *box.slices].tobytes()
    with pytest.raises(ValueError, match="outside it"):
        to_channels(image, read.exposure, box.move(400, 0))


@given(st.integers(1, SMALLEST - 1), st.integers(1, 600))
def test_small_images_tell_nothing(height: int, width: int) -> None:
    assert find_light(np.full((height, width), 0.3, np.float32)) is None


@settings(max_examples=25, deadline=None)
@given(st.integers(SMALLEST, 400), st.integers(SMALLEST, 400), st.integers(0, 2**32 - 1))
def test_light_is_a_share_of_the_background_in_any_image(height: int, width: int, number: int) -> None:
    rng = np.random.default_rng(number)
    field = np.outer(rng.uniform(0, 1, 3), rng.uniform(0, 1, 3))
    rows, columns = (np.minimum(np.arange(size) * 3 // size, 2) for size in (height, width))
    luminance = np.asarray(field[np.ix_(rows, columns)] / field.max(), np.float32)
    light = find_light(luminance)
    if light is not None:
        share, unlit = light.see(Box(0, 0, *luminance.shape))
        assert share.shape == unlit.shape == luminance.shape
        assert np.isfinite(share).all() and share.min() > 0 and share.max() <= 1 + 1e-4
