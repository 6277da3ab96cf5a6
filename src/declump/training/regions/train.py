"""A region model from annotated images: examples, training and export."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.regions.judge import open_judge
from declump.training.card import describe_training
from declump.training.examples import divide_examples
from declump.training.export import export
from declump.training.loop import Lesson, fit
from declump.training.regions.lesson import LESSON
from declump.training.regions.marked import Teacher
from declump.training.regions.network import FREE_AXES, TRIED
from declump.training.regions.targets import Example, make_example, simulate_examples
from declump.training.regions.unmarked import make_stable_example
from declump.training.schedule import Curve, Schedule


def train_region_model(
    folders: Iterable[Iterable[AnnotatedImage | MarkedNuclei]],
    path: Path,
    schedule: Schedule,
    *,
    held_out: Collection[str] = (),
    simulated: int = 48,
    composites: int = 0,
    unmarked: Iterable[NDArray[Any]] = (),
    lesson: Lesson[Any, Example] = LESSON,
    card: Mapping[str, Any] | None = None,
) -> Curve:
    """Train the network that finds clumps and nuclei, and write it as a model.

    Parameters
    ----------
    folders : iterable of iterables of AnnotatedImage or MarkedNuclei
        Each counts alike, whatever its number of images. What images with marked nuclei do not tell, cytoplasm and
        layers, the network that the training begins with tells where it is sure
        (:mod:`declump.training.regions.marked`).
    path : Path
        The ``.onnx`` file; its folder is made.
    schedule : Schedule
    held_out : collection of str
        Names of images that teach nothing and are measured on.
    simulated : int
        Number of simulated smears to learn from as well; they count as one folder.
    composites : int
        Number of composites of the images that teach to learn from as well (:mod:`declump.training.composites`); they
        count as one folder.
    unmarked : iterable of (H, W[, 3]) arrays
        Images that nobody annotated: what the network that the training begins with says of them however they are
        looked at is taught as well (:mod:`declump.training.regions.unmarked`); they count as one folder.
    lesson : Lesson
        The network, and how it learns.
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
    teacher = Teacher(schedule.start)
    groups, measured = divide_examples(
        folders,
        held_out,
        teach=teacher.make_example,
        measure=make_example,
        composites=composites,
        seed=schedule.seed,
    )
    stable = [make_stable_example(image, teacher.model, open_judge("default")) for image in unmarked]
    groups += [stable] if stable else []
    groups += [simulate_examples(simulated, schedule.seed)] if simulated else []
    path.parent.mkdir(parents=True, exist_ok=True)
    network, curve = fit(lesson, groups, measured, schedule)
    notes = describe_training(schedule, held_out=held_out, simulated=simulated, composites=composites, curve=curve)
    notes |= {"unmarked images": len(stable)} if stable else {}
    export(network, path, {**notes, **(card or {})}, shape=TRIED, free=FREE_AXES)
    return curve
