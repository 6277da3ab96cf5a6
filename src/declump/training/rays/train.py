"""A ray model from annotated images: examples with true and found regions, training, calibration and export."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.models import model_path, read_card
from declump.records.regions import Regions
from declump.regions.find import find_regions
from declump.regions.inference import SHIPPED
from declump.simulate import Smear
from declump.training.card import describe_training, read_calibration
from declump.training.examples import divide_examples
from declump.training.export import export
from declump.training.loop import fit
from declump.training.rays.examples import RayExample, make_example, simulate_examples
from declump.training.rays.lesson import LESSON
from declump.training.rays.network import FREE_AXES, TRIED, Proposer
from declump.training.schedule import Curve, Schedule

POWERS = (0.1, 5.0)
"""Powers of a calibration that mean something; those of trained networks lie near 1.7."""


def train_ray_model(
    folders: Iterable[Iterable[AnnotatedImage | MarkedNuclei]],
    path: Path,
    schedule: Schedule,
    *,
    regions: Sequence[str | Path] = ("default",),
    finder: Callable[..., Regions] = find_regions,
    held_out: Collection[str] = (),
    validation: Iterable[AnnotatedImage | Smear] = (),
    simulated: int = 150,
    composites: int = 0,
    calibration: tuple[float, float] | None = None,
    card: Mapping[str, Any] | None = None,
) -> Curve:
    """Train the network that proposes whole outlines, and write it as a model.

    Parameters
    ----------
    folders : iterable of iterables of AnnotatedImage or MarkedNuclei
        Each counts alike, whatever its number of images. Those with marked nuclei only give lone cells, leukocytes and
        debris to the composites.
    path : Path
        The ``.onnx`` file; its folder is made.
    schedule : Schedule
    regions : sequence of str or Path
        Region models to find regions with; of several, the first that did not see an image serves it.
    finder : callable
        Finds regions by a model; called as :func:`declump.find_regions`.
    held_out : collection of str
        Names of images that teach nothing and are measured on.
    validation : iterable of AnnotatedImage or Smear
        Further images to measure on.
    simulated : int
        Number of simulated smears to learn from as well; they count as one folder.
    composites : int
        Number of composites of the images that teach to learn from as well (:mod:`declump.training.composites`); they
        count as one folder.
    calibration : (float, float), optional
        Factor and power that make a standard deviation of the network's; by default as the images that are measured on
        ask for, and where there are none, those of the model that the training began with.
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
    models = [model_path(model, SHIPPED) for model in regions]
    unseen = [set(read_card(model).get("held out", [])) for model in models]

    def find(image: AnnotatedImage | MarkedNuclei) -> Regions:
        fair = next((model for model, names in zip(models, unseen, strict=True) if image.name in names), models[0])
        # By rules: a judge that has seen the image would show the network fewer false nuclei than it will meet.
        return finder(image.image, model=fair, judge="none")

    def teach(image: AnnotatedImage | MarkedNuclei) -> RayExample | None:
        return make_example(image, [find(image)]) if isinstance(image, AnnotatedImage) else None

    groups, measured = divide_examples(
        folders, held_out, teach=teach, measure=make_example, composites=composites, find=find, seed=schedule.seed
    )
    measured += [make_example(image) for image in validation]
    groups += (
        [simulate_examples(simulated, schedule.seed, partial(finder, model=models[0], judge="none"))]
        if simulated
        else []
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    network, curve = fit(LESSON, groups, measured, schedule)
    if calibration is None:
        calibration = _find_calibration(curve) or read_calibration(schedule.start) or (1.0, 1.0)
    notes = describe_training(schedule, held_out=held_out, simulated=simulated, composites=composites, curve=curve)
    notes |= {"calibration": calibration, "regions": [Path(model).name for model in regions]}
    export(Proposer(network, *calibration), path, {**notes, **(card or {})}, shape=TRIED, free=FREE_AXES)
    return curve


def _find_calibration(curve: Curve) -> tuple[float, float] | None:
    """Give the factor and power that a training ended with.

    None of a network that was measured on nothing, or has hardly learnt anything: it tells nothing by its standard
    deviation.
    """
    factor, power = (curve[-1].get(name) for name in ("doubt_factor", "doubt_power"))
    if factor is None or power is None or not POWERS[0] <= power <= POWERS[1]:
        return None
    return factor, power
