"""Focus stacks: one image that is sharp everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import ndimage

import declump
from declump.images.focus import fuse_stack


def scene(side: int = 96, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return 128 + 40 * np.sign(ndimage.gaussian_filter(rng.normal(size=(side, side)), 1.5))


def stack_of(sharp: NDArray[np.float64], heights: NDArray[np.int_], planes: int) -> NDArray[np.float64]:
    """The scene as a microscope sees it at several heights, the blur growing with the distance."""
    blurred = np.stack([ndimage.gaussian_filter(sharp, 1.2 * distance) for distance in range(planes)])
    rows, columns = np.indices(sharp.shape)
    return np.stack([blurred[np.abs(heights - plane), rows, columns] for plane in range(planes)])


def test_each_half_comes_from_the_plane_in_which_it_is_sharp() -> None:
    sharp = scene()
    heights = np.where(np.arange(96) < 48, 1, 4)[None, :].repeat(96, axis=0)
    stack = np.rint(stack_of(sharp, heights, 6)).astype(np.uint8)
    image, plane = fuse_stack(stack)
    assert image.dtype == np.uint8 and plane.dtype == np.int32
    inner = np.abs(np.arange(96) - 48) > 8  # where the halves meet, blur runs over from one into the other
    assert np.mean(plane[:, inner] == heights[:, inner]) > 0.97
    error = np.abs(image.astype(float) - sharp)[:, inner].mean()
    best = min(np.abs(one.astype(float) - sharp)[:, inner].mean() for one in stack)
    assert error < 0.15 * best


def test_colours_are_those_of_the_plane() -> None:
    sharp = scene()
    grey = stack_of(sharp, np.full((96, 96), 2), 4)
    colour = np.stack([grey, 0.5 * grey, 255 - grey], axis=-1)
    image, plane = fuse_stack(colour)
    assert (plane == 2).all()
    assert np.allclose(image, colour[2], atol=1e-3)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 4), st.integers(1, 20), st.integers(1, 20), st.sampled_from(["u1", "u2", "f4", "f8", "?"]))
def test_a_fused_pixel_lies_between_those_of_the_planes(count: int, height: int, width: int, kind: str) -> None:
    rng = np.random.default_rng(count + height + width)
    stack = (rng.random((count, height, width)) * 200).astype(kind)
    image, plane = declump.fuse_stack(stack)
    assert image.dtype == stack.dtype and image.shape == (height, width)
    assert (plane >= 0).all() and (plane < count).all()
    assert image.min() >= stack.min() and image.max() <= stack.max()


def test_equal_planes_are_one_of_them() -> None:
    plane = scene().astype(np.uint8)
    image, chosen = fuse_stack([plane] * 3)
    assert np.array_equal(image, plane) and not chosen.any()


@pytest.mark.parametrize(
    "planes",
    [[], [np.zeros(3)], [np.zeros((2, 2), complex)], [np.zeros((3, 3)), np.zeros((3, 4))], np.zeros((2, 0, 3))],
)
def test_what_is_no_stack_is_refused(planes: list[NDArray[np.float64]]) -> None:
    with pytest.raises(ValueError, match="stack"):
        fuse_stack(planes)
