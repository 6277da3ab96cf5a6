"""From a focus stack to one image in which everything is sharp, and the plane that each pixel of it came from.

A microscope sees sharply what lies in one plane. Of planes at several heights, the sharpest at a pixel is the one with
most fine detail round it; where there is none, as in the background, what is sharp farther away decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

FINE, COARSE = 1.0, 2.0
"""Detail is what differs between Gaussians of these widths, in pixels: grain is finer, shadows are coarser."""
NEAR, FAR = 3.0, 12.0
"""Detail is summed over Gaussians of these widths."""
FAR_WEIGHT = 0.1
"""How much detail farther away counts: enough to decide where there is none near by."""
SMOOTHEST = 7
"""Planes are chosen alike within this many pixels: the median of the choice."""
SEAM = 1.0
"""Planes pass into each other over a Gaussian of this width, so that no seam shows."""
LUMINANCE = (0.299, 0.587, 0.114)


def fuse_stack(planes: Sequence[ArrayLike] | NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Make one image out of a focus stack, each pixel from the plane in which it is sharp.

    Parameters
    ----------
    planes : (Z, H, W) or (Z, H, W, channels)
        The same place at different heights of the focus, in order; grey or colour.

    Returns
    -------
    image : (H, W) or (H, W, channels)
        Of the type of the planes. Colours are those of the plane, all channels from the same one.
    plane : (H, W) int32
        Number of the sharpest plane at each pixel, from 0.

    Raises
    ------
    ValueError
        If there is no plane, or they differ in size or are no images.
    """
    stack = [np.asarray(plane) for plane in planes]
    if not stack or stack[0].ndim not in (2, 3) or stack[0].size == 0 or stack[0].dtype.kind not in "biuf":
        raise ValueError("a focus stack is at least one plane (H, W) or (H, W, channels) of real numbers")
    sizes = sorted({plane.shape for plane in stack})
    if len(sizes) > 1:
        raise ValueError(f"the planes of a stack have one size; these are {sizes[0]} and {sizes[1]}")
    if len(stack) == 1:
        return stack[0], np.zeros(stack[0].shape[:2], np.int32)
    chosen = choose_planes(map(_luminance, stack))
    return _blend(stack, chosen), chosen


def choose_planes(planes: Iterable[NDArray[np.float32]]) -> NDArray[np.int32]:
    """Give the number (H, W) of the sharpest of several grey planes at each pixel; neighbours choose alike."""
    best: NDArray[np.float32] | None = None
    chosen = np.zeros((1, 1), np.int32)
    for number, plane in enumerate(planes):
        sharpness = measure_sharpness(plane)
        if best is None:
            best, chosen = sharpness, np.zeros(plane.shape, np.int32)
            continue
        better = sharpness > best
        chosen[better] = number
        np.maximum(best, sharpness, out=best)
    return np.asarray(ndimage.median_filter(chosen, SMOOTHEST, mode="nearest"))


def measure_sharpness(plane: NDArray[np.float32]) -> NDArray[np.float32]:
    """Energy (H, W) of the fine detail round each pixel of a grey plane."""
    detail = ndimage.gaussian_filter(plane, FINE) - ndimage.gaussian_filter(plane, COARSE)
    np.square(detail, out=detail)
    near = ndimage.gaussian_filter(detail, NEAR)
    return np.asarray(near + np.float32(FAR_WEIGHT) * ndimage.gaussian_filter(near, FAR))


def _luminance(plane: NDArray[Any]) -> NDArray[np.float32]:
    if plane.ndim == 2:
        return plane.astype(np.float32)
    if plane.shape[2] < 3:
        return plane[..., 0].astype(np.float32)
    return np.asarray(sum(np.float32(share) * plane[..., channel] for channel, share in enumerate(LUMINANCE)))


def _blend(stack: Sequence[NDArray[Any]], chosen: NDArray[np.int32]) -> NDArray[Any]:
    """Take each pixel from the plane that is chosen there, planes passing into each other."""
    total = np.zeros(stack[0].shape, np.float32 if stack[0].dtype.kind != "f" else np.float64)
    for number, plane in enumerate(stack):
        mine = chosen == number
        if not mine.any():
            continue
        share = ndimage.gaussian_filter(mine.astype(np.float32), SEAM)
        total += plane * (share if plane.ndim == 2 else share[..., None])
    if stack[0].dtype.kind == "f":
        return total.astype(stack[0].dtype)
    if stack[0].dtype.kind == "b":
        return np.asarray(total >= 0.5)
    limits = np.iinfo(stack[0].dtype)
    return np.clip(np.rint(total.astype(np.float64)), limits.min, limits.max).astype(stack[0].dtype)
