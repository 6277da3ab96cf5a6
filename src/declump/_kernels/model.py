"""Gradient and block-sparse Gauss-Newton Hessian of the soft energy."""

from __future__ import annotations

import numpy as np
from numba import njit

from declump._kernels.discrepancy import outline_bands
from declump._kernels.layers import gather_layers_on_rays
from declump._kernels.types import Floats, Ints, LayerMaps, Meetings, Table


@njit(cache=True, nogil=True)
def normal_equations(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    basis: Floats,
    softness: float,
    table: Table,
    clump: Floats,
    left: Floats,
    last: Ints,
    targets: Floats,
    precisions: Floats,
    layers: LayerMaps | None = None,
) -> tuple[Floats, Floats, Ints, Floats]:
    """Gradient, diagonal blocks and off-diagonal blocks of the Gauss-Newton model of the soft energy.

    Twin of :func:`declump.evolution.energy.normal_equations`. ``left`` is what :func:`cover` gives for these radii;
    ``last`` is scratch, -1 for every pixel before and after. A robust loss of the rays is in the precisions,
    re-weighted for these radii; ``layers`` are as in :func:`layer_misfit`, and without them no time is spent on layers.
    What the pixels say is gathered on the rays first, which costs little, and then carried over to the parameters.

    Returns
    -------
    gradient : (N, P)
    blocks : (N, P, P)
    pairs : (Q, 2) int64
        The pairs of cells whose outlines meet in a pixel; only they share a block. With layers a pair may be there
        twice: its blocks add up.
    shared : (Q, P, P)
    """
    by_radius, diagonal, adjacent, meetings = _gather_on_rays(
        rows, columns, radii, softness, table, clump.ravel(), left.ravel(), left.shape[1], last
    )
    for cell in range(radii.shape[0]):
        for ray in range(radii.shape[1]):
            by_radius[cell, ray] += 2 * precisions[cell, ray] * (radii[cell, ray] - targets[cell, ray])
            diagonal[cell, ray] += 2 * precisions[cell, ray]
    pairs, shared = _shared_blocks(basis, meetings)
    if layers is not None:
        meetings = gather_layers_on_rays(
            rows, columns, radii, softness, table, layers, last, by_radius, diagonal, adjacent
        )
        layer_pairs, layer_shared = _shared_blocks(basis, meetings)
        pairs, shared = np.concatenate((pairs, layer_pairs)), np.concatenate((shared, layer_shared))
    gradient, blocks = _own_blocks(basis, by_radius, diagonal, adjacent)
    return gradient, blocks, pairs, shared


@njit(cache=True, nogil=True)
def _gather_on_rays(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: Table,
    clump: Floats,
    left: Floats,
    width: int,
    last: Ints,
) -> tuple[Floats, Floats, Floats, Meetings]:
    """Derivatives of the discrepancy by the radii: first, and second within a cell, (N, K) each.

    The second ones couple a ray with itself (``diagonal``) and with the next (``adjacent``). Where outlines of two
    cells meet in a pixel is kept as ``meetings``: for each visit of a pixel its cell, sector, fraction, slope, and the
    visit by an earlier cell or -1.
    """
    _, d_rows, d_columns, distances, fractions = table
    cells, rays = radii.shape
    height = left.size // width
    bands, capacity = outline_bands(radii, softness, table)
    visit_cell = np.empty(capacity, dtype=np.int32)
    visit_sector = np.empty(capacity, dtype=np.int32)
    visit_fraction = np.empty(capacity)
    visit_slope = np.empty(capacity)
    visit_before = np.empty(capacity, dtype=np.int32)
    visit_pixel = np.empty(capacity, dtype=np.int64)
    visits = 0
    by_radius = np.zeros((cells, rays))
    diagonal = np.zeros((cells, rays))
    adjacent = np.zeros((cells, rays))
    for cell in range(cells):
        for sector in range(rays):
            following = sector + 1 if sector + 1 < rays else 0
            near, far = radii[cell, sector], radii[cell, following]
            for entry in range(bands[cell, sector, 0], bands[cell, sector, 1]):
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                if not (0 <= row < height and 0 <= column < width):
                    continue
                pixel = row * width + column
                remaining = left[pixel]
                fraction = fractions[entry]
                depth = (near + fraction * (far - near) - distances[entry]) / softness
                if remaining == 0.0 or depth <= -1 or depth >= 1:
                    continue
                others = remaining / (0.5 - depth * (3 - depth * depth) / 4)
                slope = others * 0.75 * (1 - depth * depth) / softness
                push = 2 * (1.0 - remaining - clump[pixel]) * slope
                by_radius[cell, sector] += push * (1 - fraction)
                by_radius[cell, following] += push * fraction
                squared = 2 * slope * slope
                diagonal[cell, sector] += squared * (1 - fraction) * (1 - fraction)
                diagonal[cell, following] += squared * fraction * fraction
                adjacent[cell, sector] += squared * fraction * (1 - fraction)
                visit_cell[visits], visit_sector[visits] = cell, sector
                visit_fraction[visits], visit_slope[visits] = fraction, slope
                visit_before[visits], visit_pixel[visits] = last[pixel], pixel
                last[pixel] = visits
                visits += 1
    for visit in range(visits):
        last[visit_pixel[visit]] = -1
    meetings = visit_cell[:visits], visit_sector, visit_fraction, visit_slope, visit_before
    return by_radius, diagonal, adjacent, meetings


@njit(cache=True, nogil=True)
def _own_blocks(basis: Floats, by_radius: Floats, diagonal: Floats, adjacent: Floats) -> tuple[Floats, Floats]:
    """Gradient (N, P) and diagonal blocks (N, P, P) from the derivatives by the radii."""
    cells, rays, parameters = basis.shape
    gradient = np.zeros((cells, parameters))
    blocks = np.zeros((cells, parameters, parameters))
    weighted = np.empty(parameters)
    for cell in range(cells):
        own, block = basis[cell], blocks[cell]
        for ray in range(rays):
            before, following = ray - 1 if ray > 0 else rays - 1, ray + 1 if ray + 1 < rays else 0
            on, back, forth = diagonal[cell, ray], adjacent[cell, before], adjacent[cell, ray]
            if on == 0.0:
                continue
            for p in range(parameters):
                gradient[cell, p] += by_radius[cell, ray] * own[ray, p]
                weighted[p] = on * own[ray, p] + forth * own[following, p] + back * own[before, p]
            for p in range(parameters):
                value = own[ray, p]
                for q in range(parameters):
                    block[p, q] += value * weighted[q]
    return gradient, blocks


@njit(cache=True, nogil=True)
def _shared_blocks(basis: Floats, meetings: Meetings) -> tuple[Ints, Floats]:
    """Off-diagonal blocks (Q, P, P) of the pairs (Q, 2) of cells that meet, the earlier cell first."""
    visit_cell, visit_sector, visit_fraction, visit_slope, visit_before = meetings
    cells, rays, parameters = basis.shape
    pair_of = np.full((cells, cells), -1, dtype=np.int32)
    count = 0
    for visit in range(visit_cell.size):
        other = visit_before[visit]
        while other >= 0:
            if pair_of[visit_cell[other], visit_cell[visit]] < 0:
                pair_of[visit_cell[other], visit_cell[visit]] = count
                count += 1
            other = visit_before[other]
    pairs = np.empty((count, 2), dtype=np.int64)
    for first in range(cells):
        for second in range(cells):
            if pair_of[first, second] >= 0:
                pairs[pair_of[first, second], 0] = first
                pairs[pair_of[first, second], 1] = second
    shared = np.zeros((count, parameters, parameters))
    later = np.empty(parameters)
    for visit in range(visit_cell.size):
        other = visit_before[visit]
        if other < 0:
            continue
        cell, sector, fraction = visit_cell[visit], visit_sector[visit], visit_fraction[visit]
        following = sector + 1 if sector + 1 < rays else 0
        for q in range(parameters):
            later[q] = (1 - fraction) * basis[cell, sector, q] + fraction * basis[cell, following, q]
        while other >= 0:
            earlier, sector, fraction = visit_cell[other], visit_sector[other], visit_fraction[other]
            following = sector + 1 if sector + 1 < rays else 0
            block = shared[pair_of[earlier, cell]]
            factor = 2 * visit_slope[visit] * visit_slope[other]
            for p in range(parameters):
                value = factor * ((1 - fraction) * basis[earlier, sector, p] + fraction * basis[earlier, following, p])
                for q in range(parameters):
                    block[p, q] += value * later[q]
            other = visit_before[other]
    return pairs, shared
