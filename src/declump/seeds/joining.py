"""Which parts of a mask are one object: neighbours are joined as long as a learnt rule takes them for one.

The rule is a small network that looks at what is seen of two neighbours (:mod:`declump.seeds.mosaic`). It was trained
on simulated things by ``benchmarks/joining.py``, and is numbers in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from declump.seeds.distance import depths
from declump.seeds.mosaic import SIGHTS, Mosaic
from declump.seeds.parts import fine_parts

Floats = NDArray[np.float64]

COVERED = 0.95
"""A part is no object if its neighbours' discs cover this share of its own, the largest that fits in."""


@dataclass(frozen=True)
class JoiningRule:
    """A network with two hidden layers.

    Attributes
    ----------
    mean, scale : (F,) float64
        What is taken from sights, and what they are divided by, first.
    weights, biases : tuple of three arrays
        Of the layers.
    """

    mean: Floats
    scale: Floats
    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]

    def __call__(self, sights: Floats) -> Floats:
        """How much (N,) speaks for one object, given what is seen of pairs (N, F): more than 0 if they are one."""
        values = (sights - self.mean) / self.scale
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


def objects_of(piece: NDArray[np.bool_], rule: JoiningRule | None = None) -> NDArray[np.int32]:
    """Divide a connected mask (H, W) into objects, numbered from 1, as its shape tells.

    Parameters
    ----------
    piece : (H, W) bool
    rule : JoiningRule, optional
        By default the one that ships with declump.
    """
    depth = depths(piece)
    mosaic = Mosaic(fine_parts(piece, depth), depth)
    join_alike(mosaic, shipped_rule() if rule is None else rule)
    return mosaic.labels


def join_alike(mosaic: Mosaic, rule: JoiningRule) -> None:
    """Join the two neighbours for which most speaks, as long as anything does.

    First of all go the parts that show no object of their own, whatever their necks: the place between three discs may
    lie deeper than their middles.
    """
    while (hidden := _most_covered(mosaic)) is not None:
        pairs = [(min(hidden, other), max(hidden, other)) for other in mosaic.borders[hidden]]
        merits = rule(np.array([mosaic.sight(*pair) for pair in pairs]))
        mosaic.join(*pairs[int(merits.argmax())])
    known: dict[tuple[int, int], float] = {}
    fresh = mosaic.neighbours()
    while fresh or known:
        sights = np.array([mosaic.sight(*pair) for pair in fresh]).reshape(-1, len(SIGHTS))
        known.update(zip(fresh, rule(sights).tolist(), strict=True))
        best = max(known, key=lambda pair: known[pair])
        if known[best] <= 0:
            break
        joint = mosaic.join(*best)
        known = {pair: merit for pair, merit in known.items() if not set(pair) & set(best)}
        fresh = [(min(joint, other), max(joint, other)) for other in mosaic.borders[joint]]


def _most_covered(mosaic: Mosaic) -> int | None:
    """Number of the part whose disc its neighbours cover most, if they cover it.

    A part that is deepest at a border has no disc of its own: a cut runs through it.
    """
    shares = {number: mosaic.covered(number) for number in mosaic.parts if not mosaic.is_cut(number)}
    most = max(shares, key=lambda number: shares[number], default=None)
    return most if most is not None and shares[most] >= COVERED else None
