"""The importance of examples as the paper prints it: a weight is raised as long as E of its own clump falls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.datasets import AnnotatedImage
from declump.evolution.evolve import estimate_scale, evolve_at_resolution, find_settings
from declump.evolution.settings import Settings
from declump.importance.state import LearningState, fingerprint
from declump.importance.statistics import WeightedShapes
from declump.importance.tries import Energies, Task
from declump.records.importance import Ended, Importance, Step
from declump.training.prior import AnnotatedClump, collect_clumps, learn_reach

Order = list[tuple[int, list[int]]]
"""Clumps with their examples, as they are gone through."""


def learn_importance(
    images: Iterable[AnnotatedImage],
    *,
    setting: str | Settings = "joint",
    step: float = 1.0,
    tries: int = 10,
    cycles: int = 2,
    rng: int = 0,
    workers: int = 1,
    rays: int = 360,
    copies: bool = True,
    reach: bool = True,
    modes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[Step], None] | None = None,
    state: str | Path | None = None,
) -> Importance:
    """Learn how much each whole cell counts in the mean shape, as printed.

    All weights begin at 1. For each training clump and each of its examples the weight is raised by a step as long as
    the terminated E of that clump falls, with mean and modes of the new weights; this is repeated over all clumps until
    no raise lowers E. Nothing guarantees that this comes to an end, or to the same one from another order (see
    docs/importance.md), hence the bounds. A try that failed is not repeated as long as no weight has changed.

    Parameters
    ----------
    images : iterable of AnnotatedImage
    setting : "joint", "paper" or Settings
        How clumps are evolved; each evolution begins anew, as it does for a clump that was never seen.
    step : float
        What a weight is raised by; > 0. The paper calls it l and does not print it.
    tries : int
        Bound on the raises of one example in a row; >= 1.
    cycles : int
        Bound on the rounds over all examples; >= 1.
    rng : int
        Seed of the order of clumps, and of examples in a clump, which is drawn anew for each cycle.
    workers : int
        Number of threads, best that of the cores. The result does not depend on it.
    rays, copies, reach, modes
        As for :func:`declump.learn_prior`, for which the importance is learnt. Copies share the weight of their
        example. The reach is learnt once, with equal weights.
    progress : callable, optional
        Called with the number of examples gone through, and their number in all cycles.
    log : callable, optional
        Called with every accepted step, when resumed first with the earlier ones.
    state : str or Path, optional
        File in which the state is kept after every clump. If it exists, the learning goes on from there, to the same
        end as one that was never interrupted.

    Returns
    -------
    Importance

    Raises
    ------
    ValueError
        If no cell is whole, only one is and has no copies, an option is out of range, or the state is of another
        learning.
    """
    if not (np.isfinite(step) and step > 0) or min(tries, cycles, workers) < 1:
        raise ValueError(
            f"step is a number > 0, tries, cycles and workers are >= 1; given were {step}, {tries}, {cycles}, {workers}"
        )
    training = Training(collect_clumps(images, rays=rays), setting, copies=copies, reach=reach, modes=modes)
    count = training.shapes.count
    bounds = {"tries at most": tries, "cycles at most": cycles}
    options = {"setting": training.setting, "step": step, "seed": rng, **bounds}
    learnt_for = {"copies": copies, "reach": reach, "modes": modes, "settings": repr(training.settings)}
    origin = fingerprint(training.clumps, options | learnt_for)
    path = None if state is None else Path(state)
    now = LearningState.load(path, origin) if path is not None and path.exists() else LearningState(np.ones(count))
    if log:
        for earlier in now.steps:
            log(earlier)

    def energy(task: Task) -> int:
        clump, example = task
        return training.energy(clump, now.weights if example is None else _raise_weights(now.weights, example, step))

    with Energies(energy, workers) as energies:
        while now.cycle < cycles and len(now.failed) < count:
            order = training.order(rng, now.cycle)
            for accepted in _raises(training, energies, now, order, step, tries):
                now.steps.append(accepted)
                if log:
                    log(accepted)
            now.clumps += 1
            gone = now.cycle * count + sum(len(examples) for _, examples in order[: now.clumps])
            if now.clumps == len(order):
                now.cycle, now.clumps = now.cycle + 1, 0
            if path is not None:
                now.save(path, origin)
            if progress:
                progress(gone, cycles * count)
    ended: Ended = "nothing improves" if len(now.failed) == count else "bound"
    begun = now.cycle + (now.clumps > 0)
    return Importance(now.weights, "printed", False, tuple(now.steps), begun, ended, options)


class Training:
    """The clumps that are learnt from, and what E they come to under a prior of given weights.

    Parameters
    ----------
    images : list of lists of AnnotatedClump
    setting : "joint", "paper" or Settings
    copies, reach, modes
        See :func:`learn_importance`.
    """

    def __init__(
        self,
        images: list[list[AnnotatedClump]],
        setting: str | Settings,
        *,
        copies: bool,
        reach: bool,
        modes: int | None,
    ) -> None:
        self.settings = find_settings(setting)
        self.setting = setting if isinstance(setting, str) else "own"
        self.clumps = [known for image in images for known in image]
        self.neighbours = [[other.clump for other in image] for image in images for _ in image]
        shapes = np.concatenate([known.radii for known in self.clumps])
        self.shapes = WeightedShapes(shapes, copies=copies, modes=modes)
        if reach and self.settings.reach_weight > 0:
            self.shapes.reach = learn_reach(self.clumps, float(self.shapes.plain.mean.mean()))
        ends = np.cumsum([len(known.radii) for known in self.clumps])
        self.examples = [
            range(end - len(known.radii), end) for end, known in zip(ends.tolist(), self.clumps, strict=True)
        ]

    def order(self, seed: int, cycle: int) -> Order:
        """Clumps with examples, and these, in the order of a cycle."""
        rng = np.random.default_rng([seed, cycle])
        filled = [clump for clump, examples in enumerate(self.examples) if examples]
        return [(clump, rng.permutation(self.examples[clump]).tolist()) for clump in rng.permutation(filled).tolist()]

    def energy(self, clump: int, weights: NDArray[np.float64]) -> int:
        """Terminated E of a clump in pixels, under the prior of these weights."""
        prior = self.shapes.prior(weights)
        scale = estimate_scale(self.neighbours[clump], prior)
        return evolve_at_resolution(self.clumps[clump].clump, prior, self.settings, scale, None).history[-1]


def _raises(
    training: Training, energies: Energies, now: LearningState, order: Order, step: float, tries: int
) -> Iterator[Step]:
    """Go through the examples of the clump that is next, raise their weights, and give every accepted raise."""
    clump, examples = order[now.clumps]
    for place, example in enumerate(examples):
        for _ in range(tries):
            if example in now.failed:
                break
            coming = list(_coming(order[now.clumps :], place, now.failed))
            before, after = (energies.energy(task, coming) for task in ((clump, None), (clump, example)))
            if after >= before:
                now.failed.add(example)
                break
            now.weights, now.failed = _raise_weights(now.weights, example, step), set()
            energies.forget(but={(clump, None): after})
            known = training.clumps[clump]
            cell = int(known.clump.cells[known.whole][example - training.examples[clump].start])
            weight = float(now.weights[example])
            yield Step(now.cycle + 1, known.image, known.clump.label, cell, weight, before, after)


def _coming(order: Order, place: int, failed: set[int]) -> Iterator[Task]:
    """Energies that will be asked for if nothing is accepted; the first clump is left to do from a place on."""
    for clump, examples in order:
        left = [example for example in examples[place:] if example not in failed]
        if left:
            yield clump, None
            yield from ((clump, example) for example in left)
        place = 0


def _raise_weights(weights: NDArray[np.float64], example: int, step: float) -> NDArray[np.float64]:
    raised = weights.copy()
    raised[example] += step
    return raised
