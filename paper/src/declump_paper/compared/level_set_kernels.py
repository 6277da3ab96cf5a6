"""Level sets in a narrow band: distance-regularised flow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump._kernels.compiling import compiled
from declump._kernels.types import TAU, Floats

OUTSIDE, RING, BAND = 0, 1, 2
"""Marks of pixels: nothing is done, derivatives are taken, the function changes."""


@compiled
def mark_band(phi: Floats, reach: int, marks: NDArray[np.uint8], band: NDArray[np.int32]) -> int:
    """Mark the pixels near the outline and list them, ring and band alike; gives their number.

    Twin of :func:`declump_paper.compared.level_sets.find_band`.
    """
    height, width = phi.shape
    marks[:] = OUTSIDE
    for row in range(height):
        for column in range(width):
            inside = phi[row, column] <= 0
            crossed = (column + 1 < width and (phi[row, column + 1] <= 0) != inside) or (
                row + 1 < height and (phi[row + 1, column] <= 0) != inside
            )
            if not crossed:
                continue
            for near in range(max(row - reach - 1, 0), min(row + reach + 2, height)):
                for beside in range(max(column - reach - 1, 0), min(column + reach + 2, width)):
                    if abs(near - row) <= reach and abs(beside - column) <= reach:
                        marks[near, beside] = BAND
                    elif marks[near, beside] == OUTSIDE:
                        marks[near, beside] = RING
    count = 0
    for row in range(height):
        for column in range(width):
            if marks[row, column] != OUTSIDE:
                band[count, 0], band[count, 1] = row, column
                count += 1
    return count


@compiled
def flow(
    phi: Floats,
    edge: Floats,
    push: Floats,
    centre_row: float,
    centre_column: float,
    step: float,
    regularity: float,
    length: float,
    star: float,
    width: float,
    tails: bool,
    steps: int,
    reach: int,
    renewal: int,
) -> None:
    """Move a level-set function (H, W) in place; twin of :func:`declump_paper.compared.level_sets.flow_by_arrays`."""
    height, across = phi.shape
    marks = np.zeros((height, across), dtype=np.uint8)
    band = np.empty((height * across, 2), dtype=np.int32)
    # Of every marked pixel: normal (rows, columns), flux of the regularity, flux of the star.
    fields = np.zeros((height, across, 6))
    change = np.empty(height * across)
    count = 0
    for number in range(steps):
        if number % renewal == 0:
            count = mark_band(phi, reach, marks, band)
            if count == 0:
                return
        for index in range(count):
            row, column = band[index, 0], band[index, 1]
            above, below = max(row - 1, 0), min(row + 1, height - 1)
            left, right = max(column - 1, 0), min(column + 1, across - 1)
            down = (phi[below, column] - phi[above, column]) / 2
            aside = (phi[row, right] - phi[row, left]) / 2
            slope = np.sqrt(down * down + aside * aside)
            fields[row, column, 0] = down / (slope + 1e-10)
            fields[row, column, 1] = aside / (slope + 1e-10)
            # Double well: flat and unit slope are both at rest. The factor minus 1; the 1 is the Laplacian below.
            if slope < 1e-10:
                excess = 0.0
            elif slope <= 1:
                excess = np.sin(TAU * slope) / (TAU * slope) - 1
            else:
                excess = (slope - 1) / slope - 1
            fields[row, column, 2] = excess * down
            fields[row, column, 3] = excess * aside
            if star > 0:
                rise, run = row - centre_row, column - centre_column
                distance = max(np.sqrt(rise * rise + run * run), 1e-10)
                rise, run = rise / distance, run / distance
                falling = min(down * rise + aside * run, 0.0)
                fields[row, column, 4] = falling * rise
                fields[row, column, 5] = falling * run
        for index in range(count):
            row, column = band[index, 0], band[index, 1]
            change[index] = 0.0
            if marks[row, column] != BAND:
                continue
            above, below = max(row - 1, 0), min(row + 1, height - 1)
            left, right = max(column - 1, 0), min(column + 1, across - 1)
            laplacian = (
                phi[below, column] + phi[above, column] + phi[row, right] + phi[row, left] - 4 * phi[row, column]
            )
            flux = (
                fields[below, column, 2] - fields[above, column, 2] + fields[row, right, 3] - fields[row, left, 3]
            ) / 2
            total = regularity * (laplacian + flux)
            if star > 0:
                total += (
                    star
                    * (
                        fields[below, column, 4]
                        - fields[above, column, 4]
                        + fields[row, right, 5]
                        - fields[row, left, 5]
                    )
                    / 2
                )
            value = phi[row, column]
            if tails or abs(value) <= width:
                if tails:
                    dirac = width / (np.pi * (width * width + value * value))
                else:
                    dirac = (1 + np.cos(np.pi * value / width)) / (2 * width)
                speed = push[row, column]
                if length > 0:
                    curvature = (
                        fields[below, column, 0]
                        - fields[above, column, 0]
                        + fields[row, right, 1]
                        - fields[row, left, 1]
                    ) / 2
                    along = (
                        (edge[below, column] - edge[above, column]) * fields[row, column, 0]
                        + (edge[row, right] - edge[row, left]) * fields[row, column, 1]
                    ) / 2
                    speed += length * (along + edge[row, column] * curvature)
                total += dirac * speed
            change[index] = step * total
        for index in range(count):
            phi[band[index, 0], band[index, 1]] += change[index]
