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
def merge_rays(basis: Floats, group: int) -> Floats:
    """Mean derivatives (N, K / group, P) of groups of neighbouring rays, of those (N, K, P) of all rays."""
    cells, rays, parameters = basis.shape
    means, share = np.zeros((cells, rays // group, parameters)), 1 / group
    for cell in range(cells):
        for merged in range(rays // group):
            for ray in range(merged * group, (merged + 1) * group):
                for p in range(parameters):
                    means[cell, merged, p] += share * basis[cell, ray, p]
    return means


@compiled
def merge_curvatures(diagonal: Floats, adjacent: Floats, group: int) -> tuple[Floats, Floats]:
    """Second derivatives of groups of neighbouring rays with themselves and with the next group: (N, K / group) each.

    ``diagonal`` and ``adjacent`` (N, K) are those of the rays, all of which move by as much as their group.
    """
    cells, rays = diagonal.shape
    within, across = np.zeros((cells, rays // group)), np.zeros((cells, rays // group))
    for cell in range(cells):
        for merged in range(rays // group):
            last = (merged + 1) * group - 1
            for ray in range(merged * group, last):
                within[cell, merged] += diagonal[cell, ray] + 2 * adjacent[cell, ray]
            within[cell, merged] += diagonal[cell, last]
            across[cell, merged] = adjacent[cell, last]
    return within, across


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
def shared_blocks(basis: Floats, meetings: Meetings, group: int) -> tuple[Ints, Floats]:
    """Off-diagonal blocks (Q, P, P) of the pairs (Q, 2) of cells that meet, the earlier cell first.

    ``basis`` (N, K, P) may be that of groups of rays (:func:`merge_rays`); meetings name the rays themselves.
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
        cell, fraction = visit_cell[visit], visit_fraction[visit]
        sector, following = visit_sector[visit] // group, (visit_sector[visit] + 1) // group
        following = following if following < rays else 0
        for q in range(parameters):
            later[q] = (1 - fraction) * basis[cell, sector, q] + fraction * basis[cell, following, q]
        while other >= 0:
            earlier, fraction = visit_cell[other], visit_fraction[other]
            sector, following = visit_sector[other] // group, (visit_sector[other] + 1) // group
            following = following if following < rays else 0
            block = shared[pair_of[earlier, cell]]
            factor = 2 * visit_slope[visit] * visit_slope[other]
            for p in range(parameters):
                value = factor * ((1 - fraction) * basis[earlier, sector, p] + fraction * basis[earlier, following, p])
                for q in range(parameters):
                    block[p, q] += value * later[q]
            other = visit_before[other]
    return pairs, shared
