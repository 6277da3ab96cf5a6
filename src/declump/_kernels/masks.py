"""Small masks grown, filled, and measured against their convex hulls."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import Ints, Mask


@compiled
def grow_diamond(mask: Mask, width: int) -> Mask:
    """Pixels (H, W) that a mask reaches in so many steps to neighbours by a side.

    Twin of :func:`scipy.ndimage.binary_dilation` with ``iterations``: two sweeps over the distances by steps.
    """
    height, across = mask.shape
    far = height + across + width + 1
    steps = np.empty((height, across), np.int32)
    for row in range(height):
        for column in range(across):
            step = 0 if mask[row, column] else far
            if row > 0:
                step = min(step, steps[row - 1, column] + 1)
            if column > 0:
                step = min(step, steps[row, column - 1] + 1)
            steps[row, column] = step
    grown = np.empty((height, across), np.bool_)
    for row in range(height - 1, -1, -1):
        for column in range(across - 1, -1, -1):
            step = steps[row, column]
            if row + 1 < height:
                step = min(step, steps[row + 1, column] + 1)
            if column + 1 < across:
                step = min(step, steps[row, column + 1] + 1)
            steps[row, column] = step
            grown[row, column] = step <= width
    return grown


@compiled
def measure_clearance(mask: Mask) -> Ints:
    """How far (H, W) each pixel of a mask is from the nearest pixel that is not of it, in steps of a king at chess.

    Beyond the border nothing is of the mask. Twin of :func:`scipy.ndimage.distance_transform_cdt` in a frame of zeros.
    """
    height, width = mask.shape
    steps = np.zeros((height + 2, width + 2), np.int32)
    for row in range(1, height + 1):
        for column in range(1, width + 1):
            if mask[row - 1, column - 1]:
                above = min(steps[row - 1, column - 1], steps[row - 1, column], steps[row - 1, column + 1])
                steps[row, column] = min(above, steps[row, column - 1]) + 1
    for row in range(height, 0, -1):
        for column in range(width, 0, -1):
            if steps[row, column]:
                below = min(steps[row + 1, column - 1], steps[row + 1, column], steps[row + 1, column + 1])
                steps[row, column] = min(steps[row, column], min(below, steps[row, column + 1]) + 1)
    return steps[1:-1, 1:-1].copy()


@compiled
def fill_holes(mask: Mask) -> Mask:
    """A mask (H, W) with all that it surrounds, sides being neighbours.

    Twin of :func:`scipy.ndimage.binary_fill_holes`: what no way leads to from the border is filled.
    """
    height, width = mask.shape
    filled = np.ones((height, width), np.bool_)
    waiting = np.empty(height * width, np.int64)
    count = 0
    for row in range(height):
        for column in range(width):
            if (row in (0, height - 1) or column in (0, width - 1)) and not mask[row, column]:
                filled[row, column] = False
                waiting[count] = row * width + column
                count += 1
    while count:
        count -= 1
        row, column = waiting[count] // width, waiting[count] % width
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            near, beside = row + down, column + right
            if 0 <= near < height and 0 <= beside < width and filled[near, beside] and not mask[near, beside]:
                filled[near, beside] = False
                waiting[count] = near * width + beside
                count += 1
    return filled


@compiled
def inner_rim(mask: Mask) -> Mask:
    """Pixels (H, W) of a mask beside one that is not in it, by a side, or beside the border.

    Twin of ``mask & ~scipy.ndimage.binary_erosion(mask)``.
    """
    height, width = mask.shape
    rim = np.zeros((height, width), np.bool_)
    for row in range(height):
        for column in range(width):
            if mask[row, column]:
                inside = 0 < row < height - 1 and 0 < column < width - 1
                rim[row, column] = not (
                    inside
                    and mask[row - 1, column]
                    and mask[row + 1, column]
                    and mask[row, column - 1]
                    and mask[row, column + 1]
                )
    return rim


@compiled
def _bend_inwards(ends: Ints, known: Mask) -> Ints:
    """Corners of the lower convex envelope of whole numbers ``ends`` (L,), where they are known; their places."""
    corners = np.empty(len(ends), np.int64)
    count = 0
    for place in range(len(ends)):
        if not known[place]:
            continue
        while count > 1:
            one, two = corners[count - 2], corners[count - 1]
            if (ends[two] - ends[one]) * (place - one) >= (ends[place] - ends[one]) * (two - one):
                count -= 1
            else:
                break
        corners[count] = place
        count += 1
    return corners[:count]


@compiled
def convex_area(mask: Mask) -> int:
    """Count the pixels whose centres lie in the convex hull of the pixels of a mask, or on its edge.

    Twin of the ``area_convex`` of :func:`skimage.measure.regionprops`, whose hull is that of the middles of the sides
    of all pixels. Lengths are counted in half pixels, so that all is done in whole numbers.
    """
    height, width = mask.shape
    length = 2 * height + 1
    left, right = np.zeros(length, np.int64), np.zeros(length, np.int64)
    known = np.zeros(length, np.bool_)
    for row in range(height):
        first, last = -1, -1
        for column in range(width):
            if mask[row, column]:
                if first < 0:
                    first = column
                last = column
        if first < 0:
            continue
        # Place 2 row + 1 is the row of the centres, those before and behind it are the sides above and below.
        for shift in range(3):
            place, wider = 2 * row + shift, 1 if shift == 1 else 0
            begin, end = 2 * first - wider, -2 * last - wider
            left[place] = min(left[place], begin) if known[place] else begin
            right[place] = min(right[place], end) if known[place] else end
            known[place] = True
    area = 0
    lower, upper = _bend_inwards(left, known), _bend_inwards(right, known)
    at_left, at_right = 0, 0
    for row in range(height):
        place = 2 * row + 1
        if not len(lower) or place < lower[0] or place > lower[-1]:
            continue
        while lower[at_left + 1] < place:
            at_left += 1
        while upper[at_right + 1] < place:
            at_right += 1
        one, two = lower[at_left], lower[at_left + 1]
        run = 2 * (two - one)
        first = -(-(left[one] * (two - one) + (left[two] - left[one]) * (place - one)) // run)
        one, two = upper[at_right], upper[at_right + 1]
        run = 2 * (two - one)
        last = -(-(right[one] * (two - one) + (right[two] - right[one]) * (place - one)) // run)
        area += max(-last - first + 1, 0)
    return area
