"""What the processes of a run do: learn a prior, train networks, find regions, segment and score."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from declump.batch.rehearsal import two_discs
from declump.errors import raise_ending, sentence
from declump.evaluation import score
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.shapes.prior import ShapePrior
from declump_paper.regions import find_regions
from declump_paper.research.fold_results import FoldResult, ImageScores, write_fold_result
from declump_paper.research.images import Images, true_regions
from declump_paper.research.learning import Learning
from declump_paper.research.methods import ExperimentMethod, complete_nuclei
from declump_paper.research.networks import train_networks
from declump_paper.research.plan import Fold
from declump_paper.research.storage import read_arrays, write_arrays

_KEPT = ("candidates", "nucleus_probability", "candidate_probability", "diameter")
"""What is kept of found regions beside clump and nuclei, where it is known."""


@dataclass(frozen=True)
class Task:
    """One file to make.

    Attributes
    ----------
    kind : "train", "prior", "regions" or "segment"
    path : Path
        The file.
    fingerprint : str
        Everything it depends on.
    fold : Fold
    label : str
        For people.
    learning : Learning, optional
        Of a prior.
    method : ExperimentMethod, optional
        Of a segmentation.
    prior, regions : Path, optional
        Files that a segmentation needs; without regions these are the true ones.
    completing : Path, optional
        Prior with which nuclei are completed, for a method that asks for it.
    images : tuple of int
        Images to be segmented.
    matching : str
    steps : int
        Of a training.
    architecture : str
        Of a region network to train.
    refined : bool
        Whether regions are refined.
    """

    kind: Literal["train", "prior", "regions", "segment"]
    path: Path
    fingerprint: str
    fold: Fold
    label: str
    learning: Learning | None = None
    method: ExperimentMethod | None = None
    prior: Path | None = None
    regions: Path | None = None
    completing: Path | None = None
    images: tuple[int, ...] = ()
    matching: Literal["order", "greedy"] = "order"
    steps: int = 0
    architecture: str = "declump"
    refined: bool = False


@dataclass(frozen=True)
class Work:
    """Does tasks, in whatever process.

    Attributes
    ----------
    images : Images
    """

    images: Images

    def __call__(self, task: Task | None) -> dict[str, Any]:
        """Do one task; its file comes into place whole."""
        if task is None:
            return {}
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            {"train": self._train, "prior": self._prior, "regions": self._regions, "segment": self._segment}[task.kind](
                task
            )
        return {"seconds": time.process_time() - start}

    def _prior(self, task: Task) -> None:
        assert task.learning is not None
        learnt = task.learning.learn(self.images.load(index) for index in task.fold.train)
        task.path.parent.mkdir(parents=True, exist_ok=True)
        replace(learnt, card={**learnt.card, "fingerprint": task.fingerprint}).save(task.path)

    def _train(self, task: Task) -> None:
        train_networks(
            self.images,
            task.fold,
            task.path,
            steps=task.steps,
            fingerprint=task.fingerprint,
            architecture=task.architecture,
        )

    def _regions(self, task: Task) -> None:
        assert task.fold.regions is not None
        arrays: dict[str, Any] = {}
        for index in task.images:
            # By rules where no judge is given: the one that ships has seen the images of public data sets.
            image, model = self.images.load(index).image, task.fold.regions
            found = find_regions(image, model=model, refined=task.refined, judge=task.fold.judge or "none")
            arrays |= {f"clump{index}": np.packbits(found.clump, axis=1), f"nuclei{index}": found.nuclei}
            kept = {name: getattr(found, name) for name in _KEPT}
            arrays |= {f"{name}{index}": np.asarray(value) for name, value in kept.items() if value is not None}
        write_arrays(task.path, arrays, {"fingerprint": task.fingerprint})

    def _segment(self, task: Task) -> None:
        assert task.method is not None
        prior = None if task.prior is None else ShapePrior.load(task.prior)
        found = None if task.regions is None else _read_regions(task.regions)
        completing = None if task.completing is None else ShapePrior.load(task.completing)
        _rehearse(task.method, prior, task.fold.rays)
        tested, failed = [], {}
        for index in task.images:
            image = self.images.load(index)
            regions = true_regions(image) if found is None else found[index]
            if completing is not None:
                assert task.fold.rays is not None
                regions = complete_nuclei(image.image, regions, task.fold.rays, completing)
            start = time.process_time()
            try:
                result = task.method.segment(image.image, regions, prior, rays=task.fold.rays)
                masks = result.masks
            except Exception as error:
                raise_ending(error)
                # One image must not end a run of hours: its cells count as missed, and the tables say so.
                failed[image.name] = sentence(error)
                result = _find_nothing(regions)
                masks = result.masks
            seconds = time.process_time() - start
            scored = score(image.cells, masks, matching=task.matching, overlap_degree=self.images.degrees(index))
            tested.append(ImageScores(index, scored, seconds, result))
        if len(failed) == len(task.images):
            raise ValueError(f"{task.method.name} failed on every image, first with: {next(iter(failed.values()))}")
        facts = {"modes": None if prior is None else int(prior.variances.size), "failed": failed}
        write_fold_result(task.path, FoldResult(tested, facts), task.fingerprint)


def _rehearse(method: ExperimentMethod, prior: ShapePrior | None, rays: Path | None) -> None:
    """Run a method on two discs, so that no image pays for what is compiled or loaded at first."""
    image, regions = two_discs()
    try:
        method.segment(image, regions, prior, rays=rays)
    except Exception as error:  # what fails here will fail, and be told of, on a real image
        raise_ending(error)


def _find_nothing(regions: Regions) -> Segmentation:
    """Outlines of no pixel, one a nucleus."""
    count = len(regions.seeds)
    shape = (regions.clump.shape[0], regions.clump.shape[1])
    return Segmentation(shape, regions.seeds, np.zeros((count, 360)), np.full(count, -1, np.int64))


def _read_regions(path: Path) -> Mapping[int, Regions]:
    found = read_arrays(path)
    if found is None:
        raise ValueError(f"the regions in {path} cannot be read; remove them, and start again")
    arrays = found[0]
    result = {}
    for name in arrays:
        if name.startswith("nuclei"):
            index, nuclei = int(name.removeprefix("nuclei")), arrays[name]
            clump = np.unpackbits(arrays[f"clump{index}"], axis=1, count=nuclei.shape[1]).astype(np.bool_)
            kept: dict[str, Any] = {name: arrays[f"{name}{index}"] for name in _KEPT if f"{name}{index}" in arrays}
            kept |= {"diameter": kept["diameter"].item()} if "diameter" in kept else {}
            result[index] = Regions(clump, nuclei, **kept)
    return result
