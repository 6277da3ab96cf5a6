"""How many cells lie over each pixel, against how many are expected there."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.outlines import add_visits, entries_within, visit_bands
from declump._kernels.types import Floats, Ints, LayerMaps, Meetings, PolarTable


@compiled
def count_layers(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: PolarTable,
    sums: Floats,
    touched: Ints,
) -> int:
    """Add to ``sums`` (H, W; zeros before) the soft coverage by every cell; give the number of pixels touched.

    ``touched`` receives the flat indices of pixels above zero; see :func:`cover`.
    """
    starts, d_rows, d_columns, distances, fractions = table
    cells, rays = radii.shape
    height, width = sums.shape
    flat = sums.ravel()
    count = 0
    for cell in range(cells):
        for sector in range(rays):
            near = radii[cell, sector]
            far = radii[cell, sector + 1 if sector + 1 < rays else 0]
            outside = entries_within(distances, starts[sector], starts[sector + 1], max(near, far) + softness)
            for entry in range(starts[sector], outside):
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                if not (0 <= row < height and 0 <= column < width):
                    continue
                depth = (near + fractions[entry] * (far - near) - distances[entry]) / softness
                covered = 1.0 if depth >= 1 else 0.5 + depth * (3 - depth * depth) / 4
                # Rounding may leave nothing, or less, just inside the band: a pixel is touched once only.
                if depth > -1 and covered > 0.0:
                    pixel = row * width + column
                    if flat[pixel] == 0.0:
                        touched[count] = pixel
                        count += 1
                    flat[pixel] += covered
    return count


@compiled
def layer_misfit(layers: LayerMaps, empty: float, touched: Ints, count: int) -> float:
    """Sum of ``weight loss(sum - count)`` over all pixels; twin of :func:`declump.evolution.energy.layer_misfit`.

    ``empty`` is the misfit without any cell.
    """
    counts, weights = layers.counts.ravel(), layers.weights.ravel()
    tolerances, sums = layers.tolerances.ravel(), layers.sums.ravel()
    total = empty
    for place in range(count):
        pixel = touched[place]
        expected, residual = counts[pixel], sums[pixel] - counts[pixel]
        share, share_empty = residual / tolerances[pixel], expected / tolerances[pixel]
        loss = residual * residual / (1 + share * share)
        total += weights[pixel] * (loss - expected * expected / (1 + share_empty * share_empty))
    return total


@compiled
def gather_layers(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: PolarTable,
    layers: LayerMaps,
    last: Ints,
    by_radius: Floats,
    diagonal: Floats,
    adjacent: Floats,
) -> Meetings:
    """Add the derivatives of the layer misfit by the radii; see :func:`add_visits`.

    Other than the union, the sum feels an outline wherever it runs, inside other cells as well. The weight of a pixel
    is in the slopes of the meetings.
    """
    counts, weights = layers.counts.ravel(), layers.weights.ravel()
    tolerances, sums = layers.tolerances.ravel(), layers.sums.ravel()
    visits = visit_bands(rows, columns, radii, softness, table, layers.counts.shape)
    _, _, _, depths, pixels = visits
    pushes, squares, slopes = np.zeros(len(pixels)), np.zeros(len(pixels)), np.zeros(len(pixels))
    for visit in range(len(pixels)):
        pixel, depth = pixels[visit], depths[visit]
        if weights[pixel] > 0.0:
            residual = sums[pixel] - counts[pixel]
            share = residual / tolerances[pixel]
            weight = weights[pixel] / ((1 + share * share) * (1 + share * share))
            slope = 0.75 * (1 - depth * depth) / softness
            pushes[visit] = 2 * weight * residual * slope
            squares[visit] = 2 * weight * slope * slope
            slopes[visit] = np.sqrt(weight) * slope
    return add_visits(visits, pushes, squares, slopes, last, by_radius, diagonal, adjacent)
