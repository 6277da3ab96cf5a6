from __future__ import annotations

import numpy as np
import pytest

from declump.regions.resizing import resize_channels, resize_planes


@pytest.mark.parametrize("shape", [(7, 9), (40, 31), (1, 1)])
def test_constant_planes_stay_constant(shape: tuple[int, int]) -> None:
    planes = np.stack([np.full((20, 25), value, np.float32) for value in (0.25, 3.0)])
    resized = resize_planes(planes, shape)
    assert resized.shape == (2, *shape) and resized.dtype == np.float32
    np.testing.assert_allclose(resized, planes[:, :1, :1] * np.ones(shape), rtol=1e-5)


def test_a_scale_of_about_one_leaves_the_image_as_it_is() -> None:
    channels = np.random.default_rng(1).random((3, 8, 9)).astype(np.float32)
    assert resize_channels(channels, 1.02) is channels
    assert resize_channels(channels, 0.01).shape == (3, 1, 1)
