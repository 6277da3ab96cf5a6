from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump.evolution import energy
from declump.evolution.polar import make_polar_table
from declump.evolution.settings import SETTINGS
from declump.evolution.terms.layers import LayerMisfit, weigh_layers
from declump.evolution.terms.term import SoftOutlines
from declump.records.evidence import ProposedLayers

JOINT = SETTINGS["joint"]


def test_a_standard_deviation_takes_weight_and_gives_tolerance():
    counts, std = np.ones((1, 4)), np.array([[0.0, 0.5, 1.5, np.inf]])
    layers = weigh_layers(ProposedLayers(counts, std), replace(JOINT, layer_weight=2.0, robustness=3.0))
    np.testing.assert_allclose(layers.weights, [[2, 1, 0.2, 0]])
    np.testing.assert_allclose(layers.tolerances, 3 * np.hypot(std, 0.5))
    np.testing.assert_array_equal(layers.counts, counts)


def test_outlines_counted_before_are_forgotten():
    rng = np.random.default_rng(0)
    shape, seeds, table = (40, 50), np.array([[15, 20], [22, 30]]), make_polar_table(48, 32)
    layers = weigh_layers(ProposedLayers(rng.uniform(0, 3, shape), rng.uniform(0, 1, shape)), JOINT)
    term = LayerMisfit(layers)
    nothing = SoftOutlines(*np.ascontiguousarray(seeds.T), np.zeros((2, 48)), 2.0, table)
    assert term.value(np.empty((2, 0)), nothing) == pytest.approx(
        np.sum(layers.weights * energy.robust_loss(layers.counts, layers[2]))
    )
    for size in (18.0, 6.0, 12.0):
        radii = rng.uniform(0.8, 1.2, (2, 48)) * size
        outlines = nothing._replace(radii=radii)
        term.follow(outlines)
        cover = energy.coverages(shape, seeds, radii, 2.0)
        np.testing.assert_allclose(term.maps.sums, cover.sum(axis=0), atol=1e-12)
        assert term.value(np.empty((2, 0)), outlines) == pytest.approx(energy.layer_misfit(layers, seeds, radii, 2.0))
