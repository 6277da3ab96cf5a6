from __future__ import annotations

import numpy as np
import pytest

from declump import simulate
from declump.simulate.details import draw_chromatin, draw_granules, draw_pleats, draw_polymorphs, sharpen
from declump.simulate.shapes import draw_shape

OPTIONS = {"cells": 3, "radius": 40, "clumps": 1, "rng": 5}


def test_detail_changes_the_picture_and_never_the_truth() -> None:
    plain, near = (simulate.smear((180, 200), detail=detail, **OPTIONS) for detail in (0, 1))
    assert np.array_equal(plain.cells, near.cells) and np.array_equal(plain.nuclei, near.nuclei)
    assert not np.array_equal(plain.image, near.image)


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, two = (simulate.smear((120, 150), detail=0.7, **OPTIONS).image for _ in range(2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("draw", [draw_pleats, draw_granules, draw_chromatin])
def test_details_are_finite_patches_of_their_cell(draw: object) -> None:
    for seed in range(12):
        cell = draw_shape(60, np.random.default_rng(seed))
        drawn = draw(cell, 60 / 53, np.random.default_rng(seed))
        assert drawn.shape == cell.distance.shape and drawn.dtype == np.float32 and np.isfinite(drawn).all()


def test_pleats_and_dots_only_darken() -> None:
    cells = [draw_shape(60, np.random.default_rng(seed)) for seed in range(12)]
    pleats = [draw_pleats(cell, 1.0, np.random.default_rng(seed)) for seed, cell in enumerate(cells)]
    assert min(pleat.min() for pleat in pleats) >= 0 and max(pleat.max() for pleat in pleats) > 0.3


def test_lobes_of_leukocytes_lie_on_their_bodies() -> None:
    bodies, lobes = draw_polymorphs((400, 400), np.empty((0, 2)), 1.0, np.random.default_rng(1))
    assert lobes.max() > 0.5 and np.all(bodies[lobes > 0.3] > 0.05)


def test_sharpening_keeps_flat_parts_and_widens_edges() -> None:
    flat = np.full((20, 20, 3), 120, np.uint8)
    assert np.array_equal(sharpen(flat, 1), flat)
    flat[:, 10:] = 180
    assert sharpen(flat, 1).max() > 180 and sharpen(flat, 1).min() < 120
