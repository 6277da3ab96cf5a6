from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump.evolution.settings import SETTINGS
from declump.evolution.terms.shape import ShapePrice


def test_shapes_and_scales_cost_and_turns_do_not():
    term = ShapePrice(3, 10.0, replace(SETTINGS["joint"], penalty=0.02, scale_penalty=3.0))
    np.testing.assert_allclose(term.prices, [2, 2, 2, 6, 0])
    assert term.value(np.array([[1.0, 0, 2, 0.5, 7]]), None) == pytest.approx(2 + 8 + 1.5)


def test_derivatives_are_those_of_the_value():
    rng = np.random.default_rng(0)
    term, parameters = ShapePrice(2, 30.0, SETTINGS["joint"]), rng.normal(size=(3, 4))
    gradient, blocks = np.zeros((3, 4)), np.zeros((3, 4, 4))
    term.add_by_parameter(parameters, gradient, blocks)
    step = 1e-5 * rng.normal(size=(3, 4))
    change = term.value(parameters + step, None) - term.value(parameters - step, None)
    assert change == pytest.approx(2 * np.sum(gradient * step))
    curved = term.value(parameters + step, None) - term.value(parameters, None) - np.sum(gradient * step)
    assert curved == pytest.approx(0.5 * np.einsum("np,npq,nq", step, blocks, step), rel=1e-3)
