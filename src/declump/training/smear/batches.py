"""Random windows of frames, changed in every way that must not change the answer, and what they are to be answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from declump.regions.channels import LUMINANCE
from declump.regions.inference import CENTRES, KINDS
from declump.training.smear import frames as told
from declump.training.smear.appearance import change_look
from declump.training.smear.frames import Frame
from declump.training.smear.network import STEP
from declump.training.smear.sources import USUAL_RADIUS

Floats = NDArray[np.float32]

WINDOW = 384
"""Sides of a window."""
SAME_SIZE = 0.35
"""Share of the windows that are not resized."""
SPREAD, SCALES = 0.4, (0.45, 2.2)
"""Standard deviation of the logarithm of the scale of the others, and its limits."""
ON_MARKS, ON_RARE = 0.65, 0.35
"""Shares of the windows that lie round a mark, and of these, round one of a rare kind."""
REACH = 1.5
"""The nearness to the centre of a nucleus falls from 1 to 0 over this many radii."""
LEAST = 8.0
"""A mark's neighbourhood has at least this radius in pixels."""

Batch = tuple[Tensor, ...]


def draw_batch(groups: Sequence[Sequence[Frame]], size: int, seed: int) -> Batch:
    """Draw a batch of windows from the groups in turn.

    Returns
    -------
    images : (B, 3, W, W)
    planes : (B, 2, W, W) uint8
        Clump and nucleus.
    centres, weights : (B, 6, w, w)
        Heat maps at a quarter of the resolution, and where they count.
    nearness : (B, 2, w, w)
        And where it counts.
    layers : (B, w, w) uint8
    """
    rng = np.random.default_rng(seed)
    drawn = []
    for index in range(size):
        group = groups[(seed * size + index) % len(groups)]
        drawn.append(draw_window(group[int(rng.integers(len(group)))], rng))
    images, planes, centres, weights, near, layers = (np.stack(parts) for parts in zip(*drawn, strict=True))
    return tuple(torch.from_numpy(part) for part in (images, planes, centres, weights, near, layers))


def draw_window(frame: Frame, rng: np.random.Generator) -> tuple[NDArray[Any], ...]:
    """One window of a frame with its answers."""
    scale = 1.0 if rng.random() < SAME_SIZE else float(np.clip(np.exp(rng.normal(0, SPREAD)), *SCALES))
    side = round(WINDOW / scale)
    scale = WINDOW / side
    top, left = _corner(frame, side, rng)
    look = frame.looks[int(rng.integers(len(frame.looks)))]
    colours = _resize(_cut(look, top, left, side, "reflect"), smooth=True) / np.float32(told.UNIT)
    planes = [_resize(_cut(plane, top, left, side), smooth=False) for plane in _planes(frame)]
    marks = frame.marks.copy()
    marks[:, :2] = (marks[:, :2] - (top, left) + 0.5) * scale - 0.5
    marks[:, told.RADIUS] *= scale
    usual = USUAL_RADIUS * scale
    turns, mirrored = int(rng.integers(4)), rng.random() < 0.5
    if mirrored:
        marks[:, 1] = WINDOW - 1 - marks[:, 1]
    for _ in range(turns):
        marks[:, 0], marks[:, 1] = WINDOW - 1 - marks[:, 1], marks[:, 0].copy()
    colours, *planes = (np.rot90(plane[:, ::-1] if mirrored else plane, turns) for plane in (colours, *planes))
    seen = change_look(np.ascontiguousarray(colours if colours.ndim == 3 else np.repeat(colours[..., None], 3, 2)), rng)
    clump, nucleus, layers, known = planes
    centres, weights, near = _aim(marks, np.ascontiguousarray(known), nucleus, usual)
    luminance = seen @ LUMINANCE.astype(np.float32)
    image = np.stack([luminance, seen[..., 2] - luminance, seen[..., 0] - luminance])
    every = STEP // 2
    return (
        image,
        np.stack([clump, nucleus]),
        centres,
        weights,
        near,
        np.ascontiguousarray(layers[every::STEP, every::STEP]),
    )


def _planes(frame: Frame) -> list[NDArray[np.uint8] | None]:
    return [frame.clump, frame.nucleus, frame.layers, frame.told]


def _corner(frame: Frame, side: int, rng: np.random.Generator) -> tuple[int, int]:
    room = [max(extent - side, 0) for extent in frame.shape]
    place: NDArray[Any] = rng.random(2) * [extent + 1 for extent in room]
    if len(frame.marks) and rng.random() < ON_MARKS:
        chosen = frame.rare if len(frame.rare) and rng.random() < ON_RARE else np.arange(len(frame.marks))
        mark = frame.marks[chosen[int(rng.integers(len(chosen)))], :2].astype(float)
        place = mark - side / 2 + rng.uniform(-0.35, 0.35, 2) * side
    top, left = (int(min(max(value, 0), extent)) for value, extent in zip(place, room, strict=True))
    return top, left


def _cut(plane: NDArray[np.uint8] | None, top: int, left: int, side: int, mode: str = "constant") -> NDArray[np.uint8]:
    """A square of a plane, what lies beyond the image being unknown, or mirrored."""
    if plane is None:
        return np.full((side, side), told.UNKNOWN, np.uint8)
    part = plane[top : top + side, left : left + side]
    short = [(0, side - extent) for extent in part.shape[:2]] + [(0, 0)] * (part.ndim - 2)
    if not any(after for _, after in short):
        return part
    if mode == "constant":
        return np.pad(part, short, constant_values=told.UNKNOWN)
    return np.pad(part, short, mode="symmetric")


def _resize(plane: NDArray[np.uint8], *, smooth: bool) -> NDArray[Any]:
    if not smooth:
        if len(plane) == WINDOW:
            return plane
        nearest = (2 * np.arange(WINDOW) + 1) * len(plane) // (2 * WINDOW)
        return plane[np.ix_(nearest, nearest)]
    if len(plane) == WINDOW:
        return plane.astype(np.float32)
    stacked = torch.from_numpy(np.ascontiguousarray(plane.reshape(len(plane), len(plane), -1).transpose(2, 0, 1)))[
        None
    ].float()
    resized = functional.interpolate(
        stacked, size=(WINDOW, WINDOW), mode="bilinear", align_corners=False, antialias=True
    )
    return resized[0].permute(1, 2, 0).numpy().reshape(WINDOW, WINDOW, *plane.shape[2:])


def _aim(
    marks: Floats, known: NDArray[np.uint8], nucleus: NDArray[np.uint8], usual: float
) -> tuple[Floats, Floats, Floats]:
    """Heat maps, their weights, and nearness with its weights, at a quarter of the resolution."""
    # What lies beyond the image has all bits set, and the planes unknown: nothing is known there.
    side = WINDOW // STEP
    half = STEP // 2
    coarse = known[half::STEP, half::STEP]
    beyond = coarse == told.UNKNOWN
    centres = np.zeros((CENTRES, side, side), np.float32)
    weights = np.zeros_like(centres)
    weights[0] = ((coarse & told.NUCLEI_TOLD) > 0) & ~beyond
    weights[1 : len(KINDS)] = ((coarse & told.OTHERS_TOLD) > 0) & ~beyond
    weights[len(KINDS) :] = ((coarse & told.GRADES_TOLD) > 0) & ~beyond
    near = np.zeros((2, side, side), np.float32)
    near[1] = nucleus[half::STEP, half::STEP] == 0
    places = (marks[:, :2] + 0.5) / STEP - 0.5
    inside = ((places > -8) & (places < side + 8)).all(axis=1)
    peaks: list[tuple[int, int, int]] = []
    for (row, column), mark in zip(places[inside], marks[inside], strict=True):
        kind = int(mark[told.KIND])
        radius = max(mark[told.RADIUS] or usual, LEAST) / STEP
        reach = int(np.ceil(2 * radius)) + 1
        rows = slice(max(round(row) - reach, 0), max(min(round(row) + reach + 1, side), 0))
        columns = slice(max(round(column) - reach, 0), max(min(round(column) + reach + 1, side), 0))
        window = (rows, columns)
        away = (np.arange(rows.start, rows.stop)[:, None] - row) ** 2 + (
            np.arange(columns.start, columns.stop) - column
        ) ** 2
        if not away.size:
            continue
        disc = away <= (1.2 * radius) ** 2
        if kind == told.DOUBTFUL:
            weights[:, *window][:, disc] = 0
            continue
        weights[: len(KINDS), *window][:, disc] = 1
        if kind == told.NOTHING:
            weights[:, *window][:, disc] = 1
            continue
        sigma = np.clip(radius / 3, 0.8, 2.5)
        heat = np.exp(-away / (2 * sigma**2))
        channels = [kind]
        if kind == told.NUCLEUS:
            for grade, channel in ((told.ABNORMAL, len(KINDS)), (told.HIGH, len(KINDS) + 1)):
                weights[channel, *window][disc] = mark[grade] >= 0
                channels += [channel] if mark[grade] == 1 else []
            if mark[told.RADIUS] > 0:
                cone = np.clip(1 - np.sqrt(away) / (REACH * radius), 0, 1)
                np.maximum(near[0, *window], cone, out=near[0, *window])
                near[1, *window][disc] = 1
            else:
                near[1, *window][away <= (REACH * radius) ** 2] = 0
        else:
            weights[len(KINDS) :, *window][:, disc] = 1
        own = round(row), round(column)
        at = 0 <= own[0] < side and 0 <= own[1] < side
        for channel in channels:
            np.maximum(centres[channel, *window], np.minimum(heat, 0.99), out=centres[channel, *window])
            peaks += [(channel, *own)] if at else []
    for peak in peaks:
        centres[peak] = 1
    near[1][beyond] = 0
    weights[:, beyond] = 0
    return centres, weights, near
