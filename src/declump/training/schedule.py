"""How a network is taught: how long, in what batches, and from where on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Curve = list[dict[str, float]]
"""Losses and held-out figures by step."""
Progress = Callable[[int, int, dict[str, float]], None]


@dataclass(frozen=True)
class Schedule:
    """The course of a training.

    Attributes
    ----------
    steps : int
        Number of batches.
    size : int
        Windows a batch.
    seed : int
        What all randomness follows from.
    start : Path, optional
        Network to begin with: the checkpoint of an earlier training, or the ``.onnx`` file of a model of the same kind.
    checkpoint : Path, optional
        Written every few hundred steps; if it exists, training goes on from there to the same end.
    progress : callable, optional
        Called with the step, the number of steps and the latest figures.
    rate : float, optional
        Largest rate of learning; by default one for a network that begins with nothing, or the lower one for a network
        that has learnt already.
    """

    steps: int
    size: int
    seed: int = 0
    start: Path | None = None
    checkpoint: Path | None = None
    progress: Progress | None = None
    rate: float | None = None
