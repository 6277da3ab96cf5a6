"""A window lies one way round before the network, however it was given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from declump import simulate
from declump.regions.channels import to_channels
from declump.regions.orientation import Orientation

Floats = NDArray[np.float32]
CHANGES: dict[str, Callable[[Floats], Floats]] = {
    "mirrored": lambda planes: planes[..., ::-1],
    "upturned": lambda planes: planes[..., ::-1, :],
    "turned": lambda planes: np.rot90(planes, 1, (-2, -1)),
    "turned back": lambda planes: np.rot90(planes, -1, (-2, -1)),
    "swapped": lambda planes: planes.swapaxes(-2, -1),
}


@pytest.fixture(scope="module")
def planes() -> Floats:
    return to_channels(simulate.smear((150, 190), cells=5, radius=24, rng=3).image)


@pytest.mark.parametrize("change", CHANGES)
def test_the_network_sees_the_same(change: str, planes: Floats) -> None:
    other = np.ascontiguousarray(CHANGES[change](planes))
    before, after = (Orientation.as_it_leans(image[0]) for image in (planes, other))
    assert np.array_equal(before.see(planes), after.see(other))


def test_one_pixel_and_a_flat_window_have_an_orientation() -> None:
    for shape in ((1, 1), (1, 7), (20, 20)):
        flat = np.ones(shape, np.float32)
        assert Orientation.as_it_leans(flat).see(flat[None]).size == flat.size
