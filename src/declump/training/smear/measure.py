"""Figures of a smear network on frames that teach nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from declump.evaluation.points import match_points
from declump.regions.answers import Answer
from declump.regions.objects import find_objects
from declump.training.smear import frames as told
from declump.training.smear.frames import Frame

Ask = Callable[[NDArray[np.float32]], Answer]

REACH = 24.0
"""Largest distance in pixels of a found nucleus from the point that marks it."""
LEVELS = np.linspace(0.1, 0.8, 29)


def to_channels_again(look: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Channels (3, H, W) of a stored look."""
    colours = look.reshape(*look.shape[:2], -1).astype(np.float32) / told.UNIT
    if colours.shape[2] == 1:
        colours = np.repeat(colours, 3, axis=2)
    luminance = colours @ np.array([0.299, 0.587, 0.114], np.float32)
    return np.stack([luminance, colours[..., 2] - luminance, colours[..., 0] - luminance])


def measure_frames(frames: Sequence[Frame], ask: Ask) -> dict[str, float]:
    """Nuclei against points: F1 at the best level, and its recall and precision, means over frames; Dice of masks."""
    counts, dice = [], {"clump": np.zeros(2), "nucleus": np.zeros(2)}
    lost = total = 0
    for frame in frames:
        answer = ask(to_channels_again(frame.looks[0]))
        height, width = frame.shape
        points = frame.marks[frame.marks[:, told.KIND] == told.NUCLEUS, :2].astype(float)
        for name, plane, said in (("clump", frame.clump, answer.clump), ("nucleus", frame.nucleus, answer.nucleus)):
            if plane is not None:
                known, found = plane != told.UNKNOWN, said[:height, :width] >= 0.5
                dice[name] += 2 * np.sum(found & (plane == 1)), np.sum(found & known) + np.sum(plane == 1)
        if not len(points):
            continue
        found = find_objects(answer)
        right, near = [], match_points(found.places, points, REACH)[1].size
        for level in LEVELS:
            kept = found.places[found.probability[:, 0] >= level]
            pairs = len(match_points(kept, points, REACH)[0]) if len(kept) else 0
            right.append((pairs / len(points), pairs / max(len(kept), 1)))
        counts.append(right)
        lost, total = lost + len(points) - near, total + len(points)
    means = np.mean(counts, axis=0)
    every = np.array(counts)
    f1 = np.mean(2 * every[..., 0] * every[..., 1] / np.maximum(every.sum(axis=2), 1e-9), axis=0)
    best = int(f1.argmax())
    figures = {"f1": float(f1[best]), "recall": float(means[best, 0]), "precision": float(means[best, 1]), "level": float(LEVELS[best]), "lost": lost / max(total, 1)}
    return figures | {f"{name}_dice": float(pair[0] / pair[1]) for name, pair in dice.items() if pair[1]}
