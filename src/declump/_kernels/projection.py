"""From derivatives of the energy by the radii to those by the parameters: a block-sparse Gauss-Newton Hessian.

What the pixels say is gathered on the rays first, which costs little, and then carried over to the parameters here.
With what gathers it, these are the twin of :func:`declump.evolution.energy.normal_equations`.
"""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import Floats, Ints, Meetings


@compiled
def carry_gradient(basis: Floats, by_radius: Floats) -> Floats:
    """Gradient (N, P) of the energy, by the derivatives (N, K) of it by the radii.

    ``basis`` (N, K, P) are the derivatives of each cell's radii by its own parameters.
    """
    cells, rays, parameters = basis.shape
    gradient = np.zeros((cells, parameters))
    for cell in range(cells):
        for ray in range(rays):
            push = by_radius[cell, ray]
            if push != 0.0:
                for p in range(parameters):
                    gradient[cell, p] += push * basis[cell, ray, p]
    return gradient


@compiled
def thin_curvatures(diagonal: Floats, adjacent: Floats, stride: int) -> tuple[Floats, Floats]:
    """Second derivatives (N, K / stride) by every so manieth ray, between which the others are interpolated.

    ``diagonal`` and ``adjacent`` (N, K) are those of a ray with itself and with the next; so is what is given.
    """
    cells, rays = diagonal.shape
    own, next_ = np.zeros((cells, rays // stride)), np.zeros((cells, rays // stride))
    for cell in range(cells):
        for kept in range(rays // stride):
            following = kept + 1 if (kept + 1) * stride < rays else 0
            for offset in range(stride):
                curvature, coupling = diagonal[cell, kept * stride + offset], adjacent[cell, kept * stride + offset]
                far, later = offset / stride, (offset + 1) / stride
                own[cell, kept] += (1 - far) * ((1 - far) * curvature + 2 * (1 - later) * coupling)
                own[cell, following] += far * (far * curvature + 2 * later * coupling)
                next_[cell, kept] += far * (1 - far) * curvature + ((1 - far) * later + far * (1 - later)) * coupling
    return own, next_


@compiled
def own_blocks(basis: Floats, diagonal: Floats, adjacent: Floats) -> Floats:
    """Diagonal blocks (N, P, P) of the Hessian, by the second derivatives (N, K) of the energy by the radii.

    ``basis`` (N, K, P) are the derivatives of each cell's radii by its own parameters.
    """
    cells, rays, parameters = basis.shape
    blocks = np.zeros((cells, parameters, parameters))
    # Four rays at once below; those added to make it up weigh nothing.
    own, weighted = np.zeros((rays + 3, parameters)), np.zeros((rays + 3, parameters))
    for cell in range(cells):
        count = 0
        for ray in range(rays):
            before, following = ray - 1 if ray > 0 else rays - 1, ray + 1 if ray + 1 < rays else 0
            on, back, forth = diagonal[cell, ray], adjacent[cell, before], adjacent[cell, ray]
            if on == 0.0:
                continue
            for p in range(parameters):
                value = basis[cell, ray, p]
                own[count, p] = value
                weighted[count, p] = on * value + forth * basis[cell, following, p] + back * basis[cell, before, p]
            count += 1
        weighted[count : count + 3] = 0.0
        block = blocks[cell]
        for ray in range(0, count, 4):
            for p in range(parameters):
                one, two, three, four = own[ray, p], own[ray + 1, p], own[ray + 2, p], own[ray + 3, p]
                for q in range(parameters):  # all of them: half would be slower, as its lengths differ
                    block[p, q] += (one * weighted[ray, q] + two * weighted[ray + 1, q]) + (
                        three * weighted[ray + 2, q] + four * weighted[ray + 3, q]
                    )
        for p in range(parameters):
            for q in range(p):
                block[p, q] = block[q, p]
    return blocks


@compiled
def shared_blocks(basis: Floats, meetings: Meetings, stride: int) -> tuple[Ints, Floats]:
    """Off-diagonal blocks (Q, P, P) of the pairs (Q, 2) of cells that meet, the earlier cell first.

    ``basis`` (N, K / stride, P) may be that of every so manieth ray, as in :func:`thin_curvatures`; meetings name all.
    """
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
        cell, sector = visit_cell[visit], visit_sector[visit] // stride
        fraction = (visit_sector[visit] % stride + visit_fraction[visit]) / stride
        following = sector + 1 if sector + 1 < rays else 0
        for q in range(parameters):
            later[q] = (1 - fraction) * basis[cell, sector, q] + fraction * basis[cell, following, q]
        while other >= 0:
            earlier, sector = visit_cell[other], visit_sector[other] // stride
            fraction = (visit_sector[other] % stride + visit_fraction[other]) / stride
            following = sector + 1 if sector + 1 < rays else 0
            block = shared[pair_of[earlier, cell]]
            factor = 2 * visit_slope[visit] * visit_slope[other]
            for p in range(parameters):
                value = factor * ((1 - fraction) * basis[earlier, sector, p] + fraction * basis[earlier, following, p])
                for q in range(parameters):
                    block[p, q] += value * later[q]
            other = visit_before[other]
    return pairs, shared
