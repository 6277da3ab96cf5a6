"""A smear model from folders of data: frames, training and export."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from declump.datasets import isbi2014, isbi2015, marked
from declump.models import Model, open_model
from declump.regions.inference import Maps, region_maps
from declump.training.card import describe_training
from declump.training.export import export
from declump.training.loop import fit
from declump.training.schedule import Curve, Schedule
from declump.training.smear import frames as told
from declump.training.smear import sources
from declump.training.smear.frames import Frame, make_marks
from declump.training.smear.lesson import make_lesson
from declump.training.smear.measure import calibrate, collect_peaks, find_unmarked, measure_frames, to_channels_again
from declump.training.smear.network import FREE_AXES, STRIDE, TRIED, SmearNetwork
from declump.training.smear.teacher import WeakTruth

SETS = ("cric", "isbi2015", "isbi2014", "cervix93", "edf", "colour")
"""Folders of data that are read, whichever of them there are."""
ORDER = (
    "cric", "isbi2015", "drawn", "cervix93", "high grade", "isbi2014", "drawn", "isbi2015",
    "cric", "cervix93", "drawn", "edf", "high grade", "isbi2014", "colour", "simulated",
)  # fmt: skip
"""Groups from which the windows of a batch are taken in turn: nearly half of them conventional smears in colour."""
MANY = 5
"""A frame with so many nuclei of high grade is one of the group ``high grade``."""
SURE = 0.5
"""What a network that has learnt already gives this probability, and nobody marked, is not known."""


@dataclass(frozen=True, eq=False)
class _Learning:
    """A network that is still learning, as :func:`declump.regions.inference.region_maps` asks a model."""

    network: nn.Module
    is_published: bool = False
    is_smear: bool = True
    stride: int = STRIDE

    @torch.no_grad()
    def run(self, image: NDArray[np.float32], *, give_back: bool = False) -> NDArray[np.float32]:
        """Answer for one image."""
        del give_back
        answer: NDArray[np.float32] = self.network(torch.from_numpy(np.ascontiguousarray(image))[None])[0].numpy()
        return answer


def ask_network(network: nn.Module, channels: NDArray[np.float32]) -> Maps:
    """Maps of a network that is still learning."""
    return region_maps(channels, cast(Model, _Learning(network.eval())))


def train_smear_model(
    data: Path,
    path: Path,
    schedule: Schedule,
    *,
    split: Path,
    marks: Path | None = None,
    encoder: Path | None = None,
    teacher: Path | None = None,
    held_out: Collection[str] = (),
    simulated: int = 36,
    card: Mapping[str, Any] | None = None,
) -> Curve:
    """Train the network that finds clumps, nuclei and other objects in any smear, and write it as a model.

    Parameters
    ----------
    data : Path
        Holds the folders ``SETS``, or some of them.
    path : Path
        The ``.onnx`` file; its folder is made.
    schedule : Schedule
        If it begins with a network, what that is sure of and nobody marked is left out of the loss.
    split : Path
        CSV file with the columns ``frame`` and ``part``: CRIC frames of the part ``train`` teach, those of ``choose``
        are measured on.
    marks : Path, optional
        Folder with what is drawn of CRIC frames.
    encoder : Path, optional
        Published weights of the encoder; not needed where the schedule begins with a network.
    teacher : Path, optional
        Region model that tells masks of frames with points; kept beside the model as it goes.
    held_out : collection of str
        Names of other images that teach nothing and are measured on.
    simulated : int
        Number of simulated smears to learn from as well.
    card : mapping, optional
        Further notes for the model.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    ask = None if teacher is None else WeakTruth(open_model(teacher, "region model"), path.with_name("teacher")).ask
    groups, measured = read_groups(data, split, marks, ask, set(held_out), schedule.seed, simulated)
    if schedule.start is not None:
        network = SmearNetwork()
        network.load_state_dict(_read_start(schedule.start))
        groups["cric"] = [leave_out_unmarked(frame, network) for frame in groups["cric"]]
    by_name = {frame.name: frame for frame in groups["cric"]}
    drawn = [frame.name for frame in groups["cric"] if frame.is_drawn]
    grave = [frame.name for frame in groups["cric"] if np.sum(frame.marks[:, told.HIGH] == 1) >= MANY]
    groups |= {"drawn": [by_name[name] for name in drawn], "high grade": [by_name[name] for name in grave]}

    def validate(network: SmearNetwork, _: Sequence[Frame]) -> dict[str, float]:
        return {
            f"{name}_{figure}": value
            for name, own in measured.items()
            for figure, value in measure_frames(own, lambda channels: ask_network(network, channels)).items()
        }

    network, curve = fit(make_lesson(encoder, validate), [groups[name] for name in ORDER], [], schedule)
    notes = describe_training(schedule, held_out=held_out, simulated=simulated, composites=0, curve=curve)
    notes |= {"encoder": "EfficientNet-lite0, ImageNet weights (Apache-2.0)", "drawn frames": len(drawn)}
    every = [frame for own in measured.values() for frame in own]
    if every:
        weights = calibrate(*collect_peaks(every, lambda channels: ask_network(network, channels)))
        network.calibrate(*weights)
        notes["calibration"] = weights
    export(network, path, {**notes, **(card or {})}, shape=TRIED, free=FREE_AXES)
    return curve


def _read_start(start: Path) -> Any:
    from declump.training.checkpoint import load_network

    return load_network(start)


def leave_out_unmarked(frame: Frame, network: nn.Module) -> Frame:
    """Call unknown what a network is sure of and nobody marked."""
    places = find_unmarked(frame, ask_network(network, to_channels_again(frame.looks[0])), SURE)
    if not len(places):
        return frame
    doubtful = make_marks(places, told.DOUBTFUL, radius=sources.USUAL_RADIUS)
    return replace(frame, marks=np.concatenate([doubtful, frame.marks]))


def read_groups(
    data: Path, split: Path, marks: Path | None, ask: Any, held_out: set[str], seed: int, simulated: int
) -> tuple[dict[str, list[Frame]], dict[str, list[Frame]]]:
    """Frames that teach, and those that are measured on, by source."""
    parts = {row["frame"]: row["part"] for row in csv.DictReader(split.open(newline=""))}
    groups: dict[str, list[Frame]] = {name: [] for name in SETS}
    if (data / "cric").is_dir():
        names = sorted(name for name, part in parts.items() if part == "train")
        groups["cric"] = list(sources.read_cric(data / "cric", names, marks, ask))
    for name, reader in (("isbi2015", isbi2015), ("isbi2014", isbi2014)):
        if (data / name).is_dir():
            groups[name] = list(sources.read_isbi(data / name, reader, seed))
    if (data / "cervix93").is_dir():
        groups["cervix93"] = list(sources.read_cervix93(data / "cervix93", ask))
    for name in ("edf", "colour"):
        if (data / name).is_dir() and marked.is_marked(data / name):
            groups[name] = [sources.from_marks(image, ask) for image in marked.read(data / name)]
    measured = {name: [frame for frame in own if frame.name in held_out] for name, own in groups.items()}
    groups = {name: [frame for frame in own if frame.name not in held_out] for name, own in groups.items()}
    groups["simulated"] = list(sources.simulate(simulated, seed))
    chosen = sorted(name for name, part in parts.items() if part == "choose")
    if (data / "cric").is_dir():
        measured["cric"] = list(sources.read_cric(data / "cric", chosen, marks))
    return groups, {name: own for name, own in measured.items() if own}
