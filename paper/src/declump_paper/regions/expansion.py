"""Labels of least energy on a graph: alpha-expansion by minimum cuts (Boykov, Veksler and Zabih, PAMI 2001)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]

MAX_CAPACITY = 2**29
"""Costs are rounded to integers of about this size at most: scipy's flow is int32, and a residual sums two arcs."""


def alpha_expansion(unary: ArrayLike, edges: ArrayLike, weights: ArrayLike) -> NDArray[np.intp]:
    """Labels of small Potts energy, ``sum_i unary[i, label_i] + sum_(i, j) weight_ij [label_i != label_j]``.

    It starts at the cheapest label of each node. A move offers one label to all nodes at once and finds the best set
    of nodes to take it, exactly, by a minimum cut; the energy never rises. It ends when no label brings a decrease.
    The energy, counted from the cheapest label of each node, is then at most twice the least possible. With two labels
    it is the least possible: neither raising nor lowering labels helps, and as it is submodular, nothing else can.

    Parameters
    ----------
    unary : (N, C) float
        Cost of each label at each node, finite.
    edges : (E, 2) int
        Pairs of different nodes; a pair given twice counts twice.
    weights : (E,) float
        Cost of two labels at the ends of an edge, finite, not negative.

    Returns
    -------
    (N,) intp array
        Labels from 0 to C - 1.

    Notes
    -----
    Costs are rounded to about nine digits of the largest, so that cuts and energies are exact integers and
    every accepted move lowers the energy by at least one unit.

    Examples
    --------
    >>> alpha_expansion([[0, 9], [3, 2], [0, 9]], [[0, 1], [1, 2]], [1, 1]).tolist()
    [0, 0, 0]
    """
    unary, weights = np.asarray(unary, np.float64), np.asarray(weights, np.float64)
    edges = np.asarray(edges, np.int64)
    _check(unary, edges, weights)
    costs, strengths = _as_integers(unary, edges, weights)
    labels: NDArray[np.intp] = unary.argmin(axis=1)
    energy = potts_energy(costs, edges, strengths, labels)
    alpha = idle = 0
    while idle < unary.shape[1]:
        moved = expand(costs, edges, strengths, labels, alpha)
        reached = potts_energy(costs, edges, strengths, moved)
        idle += 1
        if reached < energy:
            labels, energy, idle = moved, reached, 0
        alpha = (alpha + 1) % unary.shape[1]
    return labels


def potts_energy(unary: Integers, edges: Integers, weights: Integers, labels: NDArray[np.intp]) -> int:
    """Energy of labels (N,) for integer costs."""
    broken = labels[edges[:, 0]] != labels[edges[:, 1]]
    return int(unary[np.arange(len(labels)), labels].sum() + weights[broken].sum())


def expand(
    unary: Integers, edges: Integers, weights: Integers, labels: NDArray[np.intp], alpha: int
) -> NDArray[np.intp]:
    """Best labels (N,) among those where every node keeps its label or takes ``alpha``.

    With x = 1 for a node that takes ``alpha``, the energy is a sum of costs of x_i = 1 and of terms
    ``capacity * (1 - x_i) * x_j``, which are arcs i -> j of a cut between the source (x = 0) and the sink (x = 1).
    Where taking and keeping cost the same, nodes keep their label.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    free = labels != alpha
    cost = unary[:, alpha] - unary[np.arange(len(labels)), labels]
    first, second = edges.T
    both, broken = free[first] & free[second], labels[first] != labels[second]
    same = both & ~broken
    # An edge broken today is mended only if both ends are alpha: w (1 - x_i x_j) = w - w x_j + w (1 - x_i) x_j, or
    # w - w x_j where i is alpha already. An equal pair is broken by either end alone: an arc each way.
    np.subtract.at(cost, np.where(free[second], second, first)[broken], weights[broken])
    tails = np.concatenate([first[both], second[same]])
    heads = np.concatenate([second[both], first[same]])
    capacities = np.concatenate([weights[both], weights[same]])

    source, sink = len(labels), len(labels) + 1
    reluctant, willing = np.flatnonzero(free & (cost > 0)), np.flatnonzero(free & (cost < 0))
    if willing.size == 0:
        return labels
    tails = np.concatenate([tails, np.full(reluctant.size, source), willing])
    heads = np.concatenate([heads, reluctant, np.full(willing.size, sink)])
    capacities = np.concatenate([capacities, cost[reluctant], -cost[willing]]).astype(np.int32)
    graph = sparse.coo_array((capacities, (tails, heads)), shape=(sink + 1, sink + 1)).tocsr()
    residual = graph - maximum_flow(graph, source, sink).flow
    residual.eliminate_zeros()
    reaching = breadth_first_order(residual.T.tocsr(), sink, return_predecessors=False)
    moved = labels.copy()
    moved[reaching[reaching < source]] = alpha
    return moved


def _as_integers(
    unary: NDArray[np.float64], edges: Integers, weights: NDArray[np.float64]
) -> tuple[Integers, Integers]:
    """Costs and weights in one integer unit, so fine that no capacity of any move exceeds the largest."""
    above = unary - unary.min(axis=1, keepdims=True)
    incident = np.bincount(edges.ravel(), np.repeat(weights, 2), minlength=len(unary))
    largest = (above.max(axis=1) + incident).max() or 1.0

    def rounded(values: NDArray[np.float64]) -> Integers:
        return np.asarray(np.rint(values / largest * MAX_CAPACITY), np.int64)

    return rounded(above), rounded(weights)


def _check(unary: NDArray[np.float64], edges: Integers, weights: NDArray[np.float64]) -> None:
    if unary.ndim != 2 or unary.size == 0:
        raise ValueError(f"unary costs are an (N, C) array with at least one node and label; given was {unary.shape}")
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(f"edges are an (E, 2) array of nodes; given was {edges.shape}")
    if weights.shape != (len(edges),):
        raise ValueError(f"each of the {len(edges)} edges has one weight; given were weights of shape {weights.shape}")
    if not (np.isfinite(unary).all() and np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("unary costs are finite and weights finite and not negative; some given here are not")
    if edges.size and (edges.min() < 0 or edges.max() >= len(unary) or (edges[:, 0] == edges[:, 1]).any()):
        raise ValueError(f"an edge joins two different nodes from 0 to {len(unary) - 1}; some given here do not")
