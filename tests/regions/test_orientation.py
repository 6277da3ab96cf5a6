"""An image lies one way round before the network, however it was given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from declump import simulate
from declump.regions.channels import to_channels
from declump.regions.inference import open_region_model, region_maps
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
def test_the_network_sees_the_same_and_what_it_says_is_turned_back(change: str, planes: Floats) -> None:
    other = np.ascontiguousarray(CHANGES[change](planes))
    before, after = Orientation.of(planes[0], 16), Orientation.of(other[0], 16)
    assert np.array_equal(before.see(planes), after.see(other))
    for turned, image in ((before, planes), (after, other)):
        put = np.empty_like(image)
        turned.turn(put)[...] = turned.see(image)[:, turned.above :, turned.before :]
        assert np.array_equal(put, image)


@pytest.mark.parametrize(("rows", "columns"), [(5, 11), (16, 0), (1, 15)])
def test_a_moved_image_lies_on_the_lattice_as_before(rows: int, columns: int, planes: Floats) -> None:
    other = np.pad(planes, [(0, 0), (rows, 0), (columns, 0)], mode="edge")
    seen = [Orientation.of(image[0], 16).see(image)[0] for image in (planes, other)]
    places = [np.argwhere(image == image.min())[0] for image in seen]
    assert (np.array(places) % 16 == 0).all()


def test_maps_of_a_mirrored_image_are_mirrored(planes: Floats) -> None:
    model = open_region_model("default")
    maps = region_maps(planes, model)
    other = region_maps(np.ascontiguousarray(planes[..., ::-1]), model)
    assert np.array_equal(other.classes[..., ::-1], maps.classes)
    assert other.layers is not None and maps.layers is not None
    assert np.array_equal(other.layers[..., ::-1], maps.layers)


def test_one_pixel_and_a_flat_image_have_an_orientation() -> None:
    for shape in ((1, 1), (1, 7), (20, 20)):
        flat = np.ones(shape, np.float32)
        turned = Orientation.of(flat, 16)
        assert np.array_equal(turned.see(flat[None])[0, turned.above :, turned.before :], turned.turn(flat[None])[0])
