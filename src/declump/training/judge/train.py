"""A judge of nuclei from images whose nuclei are marked: spots, training, calibration and export."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.models import Model
from declump.records.regions import number_nuclei, seeds_from_labels
from declump.regions.inference import open_region_model
from declump.regions.judge import SpotWindows
from declump.training.card import describe_training, read_calibration
from declump.training.composites.colouring import colour_cells, colour_marked
from declump.training.composites.compose import Stock, paste_others
from declump.training.examples import check_held_out
from declump.training.export import export
from declump.training.judge.batches import JudgeViews
from declump.training.judge.examples import JudgeExample, make_example
from declump.training.judge.lesson import LESSON
from declump.training.judge.network import FREE_AXES, TRIED, Judge
from declump.training.loop import fit
from declump.training.schedule import Curve, Schedule
from declump.training.smears import simulate_smears


def train_judge(
    folders: Iterable[Iterable[AnnotatedImage | MarkedNuclei]],
    path: Path,
    schedule: Schedule,
    *,
    regions: Sequence[str | Path] = ("default",),
    held_out: Collection[str] = (),
    simulated: int = 30,
    pasted: int = 12,
    also_at: Sequence[float] = (),
    coloured: bool = False,
    composites: int = 0,
    calibration: tuple[float, float] | None = None,
    cache: Path | None = None,
    card: Mapping[str, Any] | None = None,
) -> Curve:
    """Train the network that tells nuclei of cells from leukocytes and debris, and write it as a model.

    Parameters
    ----------
    folders : iterable of iterables of AnnotatedImage or MarkedNuclei
        Each counts by the root of its number of spots.
    path : Path
        The ``.onnx`` file; its folder is made.
    schedule : Schedule
    regions : sequence of str or Path
        Region models to find spots with; of several, one that did not see an image serves it.
    held_out : collection of str
        Names of images that teach nothing and are measured on.
    simulated : int
        Number of simulated smears to learn from as well; they count as one folder.
    pasted : int
        Leukocytes and bits of debris, of all images that teach, to paste into a second copy of each; 0 for no copies.
    also_at : sequence of float
        Sizes, as factors, at which every image teaches once more: details that a small image lacks must not count.
    coloured : bool
        Whether every grey image teaches once more in the colours of a stain: region networks see colour otherwise.
    composites : int
        Number of composites of the images that teach to learn from as well (:mod:`declump.training.composites`); they
        count as one folder.
    calibration : (float, float), optional
        Slope and shift that make a probability of the network's score; by default as the images that are measured on
        ask for, and where there are none, those of the model that the training began with.
    cache : Path, optional
        Folder in which the spots of images are kept, for further trainings.
    card : mapping, optional
        Further notes for the model; they go before what is known of the training.

    Returns
    -------
    list of dict
        Losses and held-out figures by step.

    Raises
    ------
    ValueError
        If an image to hold out is in none of the folders.
    """
    collector = SpotCollector([open_region_model(model) for model in regions], cache)
    teaching, measured = _divide(folders, held_out)
    stock = Stock()
    for image in chain.from_iterable(teaching if pasted or composites else ()):
        stock.add(image)
    groups = [[collector.collect(_forget_cells(image)) for image in group] for group in teaching]
    if pasted and stock.others:
        for images, group in zip(teaching, groups, strict=True):
            group += [collector.collect(*_paste(_forget_cells(image), stock, pasted)) for image in images]
    for images, group in zip(teaching, groups, strict=True):
        group += [
            collector.collect(_forget_cells(image).resize(factor), f"at {factor:g}")
            for factor in also_at
            for image in images
        ]
        grey = [image for image in images if coloured and image.image.ndim == 2]
        group += [collector.collect(_colour(image), "in colour") for image in grey]
    if composites:
        note = f"of {len(stock.cells)} {len(stock.others)}"
        made = stock.compose(composites, schedule.seed)
        groups.append([collector.collect(MarkedNuclei.from_cells(image), note) for image in made])
    groups.append([collector.collect(smear) for smear in _simulate(simulated, schedule.seed)])
    views = [[_view(example) for example in group if len(example.nucleus)] for group in groups]
    unseen = [_view(collector.collect(_forget_cells(image))) for image in measured]
    path.parent.mkdir(parents=True, exist_ok=True)
    network, curve = fit(LESSON, views, unseen, schedule)
    if calibration is None:
        slope, shift = read_calibration(schedule.start) or (1.0, 0.0)
        calibration = curve[-1].get("slope", slope), curve[-1].get("shift", shift)
    notes = describe_training(schedule, held_out=held_out, simulated=simulated, composites=composites, curve=curve)
    notes |= {
        "calibration": calibration,
        "regions": [Path(model).name for model in regions],
        "pasted": pasted,
        "also at": list(also_at),
        "coloured": coloured,
    }
    export(Judge(network, *calibration), path, {**notes, **(card or {})}, shape=TRIED, free=FREE_AXES)
    return curve


class SpotCollector:
    """Finds the spots of images, each with a region model that did not see it, or takes those found before."""

    def __init__(self, models: Sequence[Model], cache: Path | None = None) -> None:
        self.models, self.cache = models, cache

    def collect(self, image: MarkedNuclei, note: str = "") -> JudgeExample:
        """Find the spots of an image; a note tells images of one name apart."""
        model = self._choose(image.name, bool(note))
        kept = None
        if self.cache is not None:
            name = "-".join(f"{image.name} {note}".replace("/", " ").split())
            kept = self.cache / f"{name}-{model.path.stem}.npz"
            if kept.is_file():
                return JudgeExample.load(kept, image.name)
        example = make_example(image, model)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            example.save(kept)
        return example

    def _choose(self, name: str, other: bool) -> Model:
        fair = [model for model in self.models if name in model.card.get("held out", ())] or list(self.models)
        # Where several are fair, the name decides, so that each serves about as many images.
        return fair[(_sum_letters(name) + other) % len(fair)]


def _divide(
    folders: Iterable[Iterable[AnnotatedImage | MarkedNuclei]], held_out: Collection[str]
) -> tuple[list[list[AnnotatedImage | MarkedNuclei]], list[AnnotatedImage | MarkedNuclei]]:
    """Images that teach, by folder, and those that are measured on."""
    teaching: list[list[AnnotatedImage | MarkedNuclei]] = []
    measured: list[AnnotatedImage | MarkedNuclei] = []
    for folder in folders:
        group: list[AnnotatedImage | MarkedNuclei] = []
        for image in folder:
            (measured if image.name in held_out else group).append(image)
        teaching.append(group)
    check_held_out(held_out, [image.name for image in measured])
    return teaching, measured


def _forget_cells(image: AnnotatedImage | MarkedNuclei) -> MarkedNuclei:
    return MarkedNuclei.from_cells(image) if isinstance(image, AnnotatedImage) else image


def _paste(image: MarkedNuclei, stock: Stock, count: int) -> tuple[MarkedNuclei, str]:
    """A copy of an image with leukocytes and debris, and a note that tells it from others of the same name."""
    return paste_others(image, stock.others, count, _sum_letters(image.name)), f"{count} of {len(stock.others)}"


def _colour(image: AnnotatedImage | MarkedNuclei) -> MarkedNuclei:
    rng = np.random.default_rng(_sum_letters(image.name))
    return _forget_cells(colour_cells(image, rng)) if isinstance(image, AnnotatedImage) else colour_marked(image, rng)


def _simulate(count: int, seed: int) -> Iterator[MarkedNuclei]:
    for index, smear in enumerate(simulate_smears(count, seed)):
        numbers = np.arange(1, len(smear.cells) + 1)[:, None, None]
        labels = number_nuclei(np.max(smear.nuclei * numbers, axis=0, initial=0).astype(np.int32))
        yield MarkedNuclei(f"simulated {seed} {index}", smear.image, seeds_from_labels(labels), labels)


def _sum_letters(name: str) -> int:
    return sum(name.encode())


def _view(example: JudgeExample) -> JudgeViews:
    return JudgeViews(example, SpotWindows(example.around(), example.step))
