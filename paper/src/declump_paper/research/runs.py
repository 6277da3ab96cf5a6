"""A run of the experiments: what is done already is kept, what is missing or stale is made, by several processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from declump import __version__
from declump._files import file_digest
from declump.batch.workers import Workers
from declump.models import read_card
from declump.shapes.prior import ShapePrior
from declump_paper.research.fold_results import FoldResult, read_fold_result
from declump_paper.research.images import Images
from declump_paper.research.learning import FULL, Learning
from declump_paper.research.methods import ExperimentMethod
from declump_paper.research.networks import rays_beside
from declump_paper.research.plan import Fold, Plan
from declump_paper.research.storage import fingerprint, read_arrays
from declump_paper.research.work import Task, Work

Progress = Callable[[int, int], None]
_ORDER = {"compared": 0, "ablation": 1, "ours": 2, "study": 3}
"""Which methods are begun with: those that may take long, so that no process waits for another in the end."""


@dataclass(frozen=True)
class Run:
    """Everything that has to be made, and where.

    Attributes
    ----------
    images : Images
    plan : Plan
    methods : tuple of ExperimentMethod
    out : Path
        Folder of the run.
    steps : int
        Batches of a training, where networks are trained.
    architecture : "declump" or "paper"
        Which region network is trained.
    refined : bool
        Whether a Markov random field cleans what the region networks answer.
    """

    images: Images
    plan: Plan
    methods: tuple[ExperimentMethod, ...]
    out: Path
    steps: int = 2000
    architecture: str = "declump"
    refined: bool = False

    def execute(self, jobs: int | None = None, progress: Progress | None = None) -> None:
        """Make what is missing.

        Parameters
        ----------
        jobs : int, optional
            Number of processes, by default that of the cores. The results do not depend on it.
        progress : callable, optional
            Called with the number of files done and in all.

        Raises
        ------
        ValueError
            If a method fails on every image; what else was made is kept.
        """
        plan = self._plan_networks()
        stages: list[Callable[[], list[Task]]] = [
            lambda: self._training_tasks(plan),
            lambda: [*self._region_tasks(plan), *self._prior_tasks(plan)],
            lambda: self._segment_tasks(plan),
        ]
        # Where networks are trained, later files depend on them, and are not counted before.
        total = sum(len(stage()) for stage in stages) if plan.regions != "train" else None
        done = 0
        with ExitStack() as stack:
            workers: Workers | None = None
            for stage in stages:
                tasks = stage()
                left = [task for task in tasks if not _is_current(task)]
                done += len(tasks) - len(left)
                if progress:
                    progress(done, total or done + len(left))
                if left and workers is None:
                    count = min(jobs or os.cpu_count() or 1, total or len(tasks))
                    workers = stack.enter_context(Workers(count, Work(self.images)))
                reasons = []
                for task, answer in workers.answers(left) if left and workers else ():
                    done += 1
                    if answer.reason:
                        reasons.append(f"{task.label}: {answer.reason}")
                    if progress:
                        progress(done, total or done + len(left))
                if reasons:
                    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
                    raise ValueError(f"{sorted(reasons)[0]}{more}")

    def fold_results(self) -> dict[tuple[int, str], FoldResult]:
        """Read all results, by fold and method."""
        found = {}
        for task in self._segment_tasks(self._plan_networks()):
            assert task.method is not None
            part = read_fold_result(task.path, task.fingerprint)
            if part is None:
                raise ValueError(f"{task.label} is not done yet; run it first")
            found[task.fold.number, task.method.name] = part
        return found

    def priors(self) -> dict[tuple[int, str], Path]:
        """Files of the priors, by fold and method."""
        return {
            (fold.number, method.name): self._prior_path(fold, method.learning)
            for fold in self.plan.folds
            for method in self.methods
            if method.learning is not None
        }

    def runs_once(self, method: ExperimentMethod) -> bool:
        """Whether a method gives the same for an image in every fold, so that it is run on each once."""
        return method.learning is None and method.evidence == "clump" and self.plan.regions == "true"

    def _plan_networks(self) -> Plan:
        """Give the plan with the networks that this run trains itself."""
        if self.plan.regions != "train":
            return self.plan
        models = [self.out / "models" / f"fold{fold.number}-regions.onnx" for fold in self.plan.folds]
        seeing = any(method.evidence == "rays" for method in self.methods)
        trained = [
            replace(fold, regions=path, rays=rays_beside(path) if seeing else None)
            for fold, path in zip(self.plan.folds, models, strict=True)
        ]
        return replace(self.plan, folds=tuple(trained))

    def _training_tasks(self, plan: Plan) -> list[Task]:
        if plan.regions != "train":
            return []
        tasks = []
        for fold in plan.folds:
            assert fold.regions is not None
            told = fingerprint(["networks", *self._origin(fold), self.steps, self.architecture])
            label = f"networks of fold {fold.number}"
            tasks.append(
                Task("train", fold.regions, told, fold, label, steps=self.steps, architecture=self.architecture)
            )
        return tasks

    def _prior_tasks(self, plan: Plan) -> list[Task]:
        wanted = {method.learning for method in self.methods if method.learning is not None}
        wanted |= {FULL for method in self.methods if method.borrows_nuclei}
        return [
            Task(
                "prior",
                self._prior_path(fold, learning),
                self._prior_fingerprint(fold, learning),
                fold,
                f"prior {learning.name} of fold {fold.number}",
                learning=learning,
            )
            for learning in sorted(wanted, key=lambda one: (one.importance == "off", one.name))
            for fold in plan.folds
        ]

    def _region_tasks(self, plan: Plan) -> list[Task]:
        if plan.regions == "true":
            return []
        return [
            Task(
                "regions",
                self._regions_path(fold),
                self._regions_fingerprint(fold),
                fold,
                f"regions of fold {fold.number}",
                images=fold.test,
                refined=self.refined,
            )
            for fold in plan.folds
        ]

    def _segment_tasks(self, plan: Plan) -> list[Task]:
        tasks = []
        for method in sorted(self.methods, key=lambda one: _ORDER[one.group]):
            for fold in plan.folds:
                images = fold.own if self.runs_once(method) else fold.test
                found = plan.regions != "true"
                prior = None if method.learning is None else self._prior_path(fold, method.learning)
                origin: list[Any] = ["segment", __version__, method.record(), plan.matching]
                origin.append([(self.images.names[index], self.images.digests[index]) for index in images])
                origin.append(None if method.learning is None else self._prior_fingerprint(fold, method.learning))
                origin.append(self._regions_fingerprint(fold) if found else "true")
                origin += [self._prior_fingerprint(fold, FULL)] if method.borrows_nuclei else []
                if method.evidence == "rays" or method.completed:
                    origin.append(None if fold.rays is None else _digest(fold.rays))
                tasks.append(
                    Task(
                        "segment",
                        self.out / "parts" / f"fold{fold.number}" / f"{method.name}.npz",
                        fingerprint(origin),
                        fold,
                        f"{method.name} on fold {fold.number}",
                        method=method,
                        prior=prior,
                        regions=self._regions_path(fold) if found else None,
                        completing=self._prior_path(fold, FULL) if method.borrows_nuclei else None,
                        images=images,
                        matching=plan.matching,
                    )
                )
        return tasks

    def _prior_path(self, fold: Fold, learning: Learning) -> Path:
        return self.out / "priors" / f"fold{fold.number}-{learning.name}.npz"

    def _prior_fingerprint(self, fold: Fold, learning: Learning) -> str:
        return fingerprint(["prior", *self._origin(fold), repr(learning)])

    def _regions_path(self, fold: Fold) -> Path:
        return self.out / "regions" / f"fold{fold.number}.npz"

    def _regions_fingerprint(self, fold: Fold) -> str:
        assert fold.regions is not None
        origin = ["regions", __version__, _digest(fold.regions), self.refined, self._contents(fold.test)]
        origin += [_digest(fold.judge)] if fold.judge is not None else []
        return fingerprint(origin)

    def _origin(self, fold: Fold) -> list[Any]:
        return [__version__, self._contents(fold.train)]

    def _contents(self, images: Iterable[int]) -> Sequence[Sequence[str]]:
        return [(self.images.names[index], self.images.digests[index]) for index in images]


def _digest(model: Path) -> str:
    """Tell a model apart from any other; one that is not trained yet is like no other."""
    return file_digest(model)[:16] if model.is_file() else "missing"


def _is_current(task: Task) -> bool:
    """Tell whether the file of a task is there and was made from the same."""
    if not task.path.is_file():
        return False
    if task.kind == "segment":
        return read_fold_result(task.path, task.fingerprint) is not None
    if task.kind == "train":
        complete = task.fold.rays is None or task.fold.rays.is_file()
        return complete and read_card(task.path).get("fingerprint") == task.fingerprint
    if task.kind == "prior":
        try:
            return ShapePrior.load(task.path).card.get("fingerprint") == task.fingerprint
        except ValueError:
            return False
    found = read_arrays(task.path)
    return found is not None and found[1].get("fingerprint") == task.fingerprint
