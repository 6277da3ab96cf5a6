"""Figures of a smear network on frames that teach nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from declump.evaluation.points import match_points
from declump.models import NUCLEUS_DIAMETER
from declump.regions.inference import KINDS, Maps
from declump.regions.objects import find_peaks
from declump.training.smear import frames as told
from declump.training.smear.frames import Frame

Ask = Callable[[NDArray[np.float32]], Maps]

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
        maps = ask(to_channels_again(frame.looks[0]))
        points = frame.marks[frame.marks[:, told.KIND] == told.NUCLEUS, :2].astype(float)
        for name, plane, said in (
            ("clump", frame.clump, 1 - maps.classes[0]),
            ("nucleus", frame.nucleus, maps.classes[2]),
        ):
            if plane is not None:
                known, found = plane != told.UNKNOWN, said >= 0.5
                dice[name] += 2 * np.sum(found & (plane == 1)), np.sum(found & known) + np.sum(plane == 1)
        if not len(points):
            continue
        assert maps.centres is not None
        places = find_peaks(maps.centres[0], NUCLEUS_DIAMETER)
        height = maps.centres[0][tuple(places.T)]
        right, near = [], match_points(places.astype(float), points, REACH)[1].size
        for level in LEVELS:
            kept = places[height >= level].astype(float)
            pairs = len(match_points(kept, points, REACH)[0]) if len(kept) else 0
            right.append((pairs / len(points), pairs / max(len(kept), 1)))
        counts.append(right)
        lost, total = lost + len(points) - near, total + len(points)
    means = np.mean(counts, axis=0)
    every = np.array(counts)
    f1 = np.mean(2 * every[..., 0] * every[..., 1] / np.maximum(every.sum(axis=2), 1e-9), axis=0)
    best = int(f1.argmax())
    figures = {
        "f1": float(f1[best]),
        "recall": float(means[best, 0]),
        "precision": float(means[best, 1]),
        "level": float(LEVELS[best]),
        "lost": lost / max(total, 1),
    }
    return figures | {f"{name}_dice": float(pair[0] / pair[1]) for name, pair in dice.items() if pair[1]}


def collect_peaks(
    frames: Sequence[Frame], ask: Ask, least: float = 0.02
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores (S, 2) of nucleus and abnormal nucleus at all peaks of nuclei, and which are marked.

    Unknown places are left out.
    """
    scores, right = [np.empty((0, 2))], [np.empty(0, np.bool_)]
    for frame in frames:
        maps = ask(to_channels_again(frame.looks[0]))
        assert maps.centres is not None
        places = find_peaks(maps.centres[0], NUCLEUS_DIAMETER, least)
        places = places[(frame.told[tuple(places.T)] & told.NUCLEI_TOLD) > 0]
        chance = np.clip(
            maps.centres[[0, len(KINDS)]][:, places[:, 0], places[:, 1]].astype(np.float64), 1e-6, 1 - 1e-6
        )
        points = frame.marks[frame.marks[:, told.KIND] == told.NUCLEUS, :2].astype(float)
        hit, taken = np.zeros(len(places), np.bool_), np.zeros(len(points), np.bool_)
        for index in np.argsort(-chance[0], kind="stable"):
            # The surest of several near a point is its nucleus.
            away = np.hypot(*(points - places[index]).T) + np.where(taken, np.inf, 0)
            if away.size and away.min() <= REACH:
                taken[away.argmin()] = hit[index] = True
        scores.append(np.log(chance / (1 - chance)).T)
        right.append(hit)
    return np.concatenate(scores), np.concatenate(right)


def calibrate(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Weights of the scores (S, 2) and a shift with which the logistic function makes probabilities of them.

    What looks abnormal is more often a nucleus than its peak alone tells: those of high grade lie in dark groups.
    """
    design = np.column_stack([scores, np.ones(len(scores))])
    sign = np.where(right, 1, -1)

    def surprise(weights: NDArray[np.float64]) -> float:
        return float(np.logaddexp(0, -sign * (design @ weights)).sum())

    nucleus, abnormal, shift = minimize(surprise, np.array([1.0, 0.0, 0.0]), method="BFGS").x
    return float(nucleus), float(abnormal), float(shift)


def find_unmarked(frame: Frame, maps: Maps, least: float) -> NDArray[np.float64]:
    """Places (N, 2) that a network takes for nuclei with a least probability, and where nothing is marked."""
    assert maps.centres is not None
    places = find_peaks(maps.centres[0], NUCLEUS_DIAMETER, least).astype(float)
    if not len(places) or not len(frame.marks):
        return places
    free = np.ones(len(places), np.bool_)
    free[match_points(places, frame.marks[:, :2].astype(float), REACH)[0]] = False
    return places[free]
