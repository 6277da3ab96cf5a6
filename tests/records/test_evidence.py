from __future__ import annotations

import numpy as np
import pytest

from declump.evidence import Evidence


def some() -> Evidence:
    rng = np.random.default_rng(0)
    radii, layers = rng.uniform(1, 9, (2, 36)), rng.uniform(0, 3, (7, 11))
    return Evidence(radii, radii / 4, layers, layers / 8)


def test_evidence_of_everything_and_of_nothing():
    some().check(2, (7, 11))
    Evidence().check(5, (3, 3))
    assert Evidence().with_rays(50).radii is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"radii": np.ones((2, 36))}, "given together"),
        ({"layers_std": np.ones((2, 36))}, "given together"),
        ({"radii": np.ones((2, 36)), "radii_std": np.ones((2, 35))}, "of one shape"),
        ({"layers": np.ones(9), "layers_std": np.ones(9)}, "two-dimensional"),
        ({"radii": np.full((2, 36), np.nan), "radii_std": np.ones((2, 36))}, "finite"),
        ({"layers": -np.ones((2, 36)), "layers_std": np.ones((2, 36))}, "not negative"),
        ({"layers": np.ones((2, 36)), "layers_std": np.full((2, 36), np.nan)}, "at least 0"),
        ({"radii": np.ones((2, 36)), "radii_std": np.zeros((2, 36))}, "more than 0"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        Evidence(**arrays)


def test_evidence_of_other_cells_or_another_image_is_refused():
    with pytest.raises(ValueError, match="2 rows for 3 seeds"):
        some().check(3, (7, 11))
    with pytest.raises(ValueError, match=r"\(11, 7\); given were \(7, 11\)"):
        some().check(2, (11, 7))


def test_other_rays_leave_unknown_rays_unknown():
    std = np.full((1, 36), 2.0)
    std[0, 5:9] = np.inf
    finer = Evidence(np.full((1, 36), 7.0), std).with_rays(360)
    np.testing.assert_allclose(finer.radii, 7)
    np.testing.assert_array_equal(np.flatnonzero(np.isinf(finer.radii_std[0])), np.arange(41, 90))
    assert some().with_rays(36).radii.shape == (2, 36)


def test_every_nth_pixel_of_the_evidence():
    given, coarse = some(), some().strided(3)
    np.testing.assert_allclose(coarse.radii, given.radii / 3)
    np.testing.assert_allclose(coarse.radii_std, given.radii_std / 3)
    np.testing.assert_array_equal(coarse.layers, given.layers[1::3, 1::3])
    np.testing.assert_array_equal(coarse.layers_std, given.layers_std[1::3, 1::3])
    assert Evidence().strided(2).layers is None
