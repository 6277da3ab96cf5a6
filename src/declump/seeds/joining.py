"""Which parts of a mask are one object: neighbours are joined as long as a learnt rule takes them for one.

The rule is a small network that looks at the features of two neighbours (:mod:`declump.seeds.region_graph`). It was
trained on simulated things by ``benchmarks/joining.py``, and is numbers in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from declump.seeds.concavity import trace_outlines
from declump.seeds.distance import deepest_places, depths
from declump.seeds.outline import Outline
from declump.seeds.parts import fine_parts
from declump.seeds.region_graph import PAIR_FEATURES, RegionGraph

Floats = NDArray[np.float64]
Pair = tuple[int, int]

COVERED = 0.95
"""A part is no object if its neighbours' discs cover this share of its own, the largest that fits in."""


@dataclass(frozen=True)
class JoiningRule:
    """A network with two hidden layers.

    Attributes
    ----------
    mean, scale : (F,) float64
        What is taken from the features of pairs, and what they are divided by, first.
    weights, biases : tuple of three arrays
        Of the layers.
    """

    mean: Floats
    scale: Floats
    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]

    def __call__(self, features: Floats) -> Floats:
        """How much (N,) speaks for one object, given the features of pairs (N, F): more than 0 if they are one."""
        values = (features - self.mean) / self.scale
        for weights, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            values = np.tanh(values @ weights.T + bias)
        return np.asarray((values @ self.weights[-1].T + self.biases[-1])[:, 0])


@cache
def shipped_rule() -> JoiningRule:
    """Load the rule that ships with declump."""
    with files("declump").joinpath("data", "joining.npz").open("rb") as file, np.load(file, allow_pickle=False) as data:
        layers = range(3)
        return JoiningRule(
            data["mean"],
            data["scale"],
            tuple(data[f"weights{layer}"] for layer in layers),
            tuple(data[f"bias{layer}"] for layer in layers),
        )


def find_objects(piece: NDArray[np.bool_], rule: JoiningRule | None = None) -> NDArray[np.int32]:
    """Divide a connected mask (H, W) into objects, numbered from 1, as its shape tells.

    Parameters
    ----------
    piece : (H, W) bool
    rule : JoiningRule, optional
        By default the one that ships with declump.
    """
    graph = build_region_graph(piece)
    join_alike(graph, shipped_rule() if rule is None else rule)
    return graph.labels


def build_region_graph(piece: NDArray[np.bool_]) -> RegionGraph:
    """Divide a connected mask (H, W) too finely."""
    depth = depths(piece)
    outlines = trace_outlines(piece, deepest_places(depth), depth)
    return RegionGraph(fine_parts(piece, depth, outlines), depth, Outline.of(outlines))


def join_alike(graph: RegionGraph, rule: JoiningRule) -> None:
    """Join the two neighbours for which most speaks, as long as anything does.

    First of all go the parts that show no object of their own, whatever their necks: the place between three discs may
    lie deeper than their middles.
    """
    _join_covered(graph, rule)
    merits: dict[Pair, float] = {}
    queue: list[tuple[float, Pair]] = []

    def judge(pairs: list[Pair]) -> None:
        for pair, merit in zip(pairs, _merits(graph, pairs, rule).tolist(), strict=True):
            merits[pair] = merit
            heappush(queue, (-merit, pair))

    judge(graph.neighbours())
    while queue:
        price, best = heappop(queue)
        if merits.get(best) != -price:
            continue  # not as it was when it was judged
        if price >= 0:
            break
        for name in best:
            for pair in graph.pairs_of(name):
                merits.pop(pair, None)
        judge(graph.pairs_of(graph.join(*best)))


def _join_covered(graph: RegionGraph, rule: JoiningRule) -> None:
    """Give parts whose discs are covered by their neighbours', the most covered first, to the most alike of these."""

    def share(name: int) -> float:
        # A part that is deepest at a border has no disc of its own: a cut runs through it.
        return 0.0 if graph.is_cut(name) else graph.covered(name)

    shares = {name: share(name) for name in graph.parts}
    while shares[most := max(shares, key=lambda name: shares[name])] >= COVERED:
        pairs = graph.pairs_of(most)
        best = pairs[int(_merits(graph, pairs, rule).argmax())]
        joint = graph.join(*best)
        del shares[max(best)]
        for name in (joint, *graph.borders[joint]):
            shares[name] = share(name)


def _merits(graph: RegionGraph, pairs: list[Pair], rule: JoiningRule) -> Floats:
    """How much (N,) speaks for each pair to be one object."""
    return rule(np.array([graph.pair_features(*pair) for pair in pairs]).reshape(-1, len(PAIR_FEATURES)))
