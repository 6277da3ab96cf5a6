"""The importance of examples as the paper prints it: a weight is raised as long as E of its own clump falls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.datasets import AnnotatedImage
from declump.evolution.evolve import estimate_scale, evolve_at_resolution, find_settings
from declump.evolution.settings import Settings
from declump.records.clump import Clump, check_mask, split_clumps
from declump.training.prior import AnnotatedClump, collect_clumps, learn_reach
from declump_paper.importance.learnt import Ended, Importance, Step
from declump_paper.importance.state import LearningState, fingerprint
from declump_paper.importance.statistics import WeightedShapes
from declump_paper.importance.tries import Energies, Task

Order = list[tuple[int, list[int]]]
"""Groups of clumps with their examples, as they are gone through."""
Unit = Literal["clump", "image"]


def learn_importance(
    images: Iterable[AnnotatedImage],
    *,
    setting: str | Settings = "joint",
    step: float = 1.0,
    tries: int = 10,
    cycles: int | None = 2,
    rng: int = 0,
    workers: int = 1,
    rays: int = 360,
    copies: bool = True,
    reach: bool = True,
    modes: int | None = None,
    unit: Unit = "clump",
    masks: Sequence[ArrayLike] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    log: Callable[[Step], None] | None = None,
    state: str | Path | None = None,
) -> Importance:
    """Learn how much each whole cell counts in the mean shape, as printed.

    All weights begin at 1. For each training clump and each of its examples the weight is raised by a step as long as
    the terminated E of that clump (or of its image) falls, with mean and modes of the new weights; this is repeated
    over all clumps until no raise lowers E. Nothing guarantees that this comes to an end, or to the same one from
    another order (see docs/importance.md), hence the bounds. A try that failed is not repeated as long as no weight has
    changed.

    Parameters
    ----------
    images : iterable of AnnotatedImage
    setting : "joint", "paper" or Settings
        How clumps are evolved; each evolution begins anew, as it does for a clump that was never seen.
    step : float
        What a weight is raised by; > 0. The paper calls it l and does not print it.
    tries : int
        Bound on the raises of one example in a row; >= 1.
    cycles : int, optional
        Bound on the rounds over all examples; >= 1. None is no bound: it goes on until nothing improves, if ever.
    rng : int
        Seed of the order of clumps, and of examples in a clump, which is drawn anew for each cycle.
    workers : int
        Number of threads, best that of the cores. The result does not depend on it.
    rays, copies, reach, modes
        As for :func:`declump.learn_prior`, for which the importance is learnt. Copies share the weight of their
        example. The reach is learnt once, with equal weights.
    unit : "clump" or "image"
        What the E that has to fall is of: the clump of the example, or all clumps of its image together, which are the
        paper's words.
    masks : sequence of (H, W) bool, optional
        Found clumps, one mask an image, to be explained in place of the true ones. A cell whose seed lies in none of
        them keeps its weight.
    progress : callable, optional
        Called with the number of examples gone through, and their number in all cycles, None without a bound.
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
    if not (np.isfinite(step) and step > 0) or min(tries, 1 if cycles is None else cycles, workers) < 1:
        raise ValueError(
            f"step is a number > 0, tries, cycles and workers are >= 1; given were {step}, {tries}, {cycles}, {workers}"
        )
    known = collect_clumps(images, rays=rays)
    training = Training(known, setting, copies=copies, reach=reach, modes=modes, unit=unit, masks=masks)
    count = training.reached
    options: dict[str, Any] = {"setting": training.setting, "step": step, "seed": rng}
    options |= {"tries at most": tries, "cycles at most": cycles}
    options |= {"E of": unit} if unit != "clump" else {}
    options |= {"clumps": "found"} if masks is not None else {}
    learnt_for = {"copies": copies, "reach": reach, "modes": modes, "settings": repr(training.settings)}
    evolved = () if masks is None else tuple(clump for group in training.groups for clump in group.clumps)
    origin = fingerprint(training.clumps, options | learnt_for, evolved)
    path = None if state is None else Path(state)
    kept = path is not None and path.exists()
    now = LearningState.load(path, origin) if path and kept else LearningState(np.ones(training.shapes.count))
    if log:
        for earlier in now.steps:
            log(earlier)

    def energy(task: Task) -> int:
        group, example = task
        return training.energy(group, now.weights if example is None else _raise_weights(now.weights, example, step))

    with Energies(energy, workers) as energies:
        while (cycles is None or now.cycle < cycles) and len(now.failed) < count:
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
                progress(gone, None if cycles is None else cycles * count)
    ended: Ended = "nothing improves" if len(now.failed) == count else "bound"
    begun = now.cycle + (now.clumps > 0)
    return Importance(now.weights, "printed", False, tuple(now.steps), begun, ended, options)


@dataclass(frozen=True)
class Group:
    """What the E that has to fall is of: clumps of one image, and the examples in them.

    Attributes
    ----------
    clumps : sequence of Clump
        Those that are evolved; their discrepancies are added.
    image : sequence of Clump
        All of the image, for the size of its cells.
    examples : tuple of int
        Examples whose weights are raised for it.
    """

    clumps: Sequence[Clump]
    image: Sequence[Clump]
    examples: tuple[int, ...]


class Training:
    """The clumps that are learnt from, and what E they come to under a prior of given weights.

    Parameters
    ----------
    images : list of lists of AnnotatedClump
    setting : "joint", "paper" or Settings
    copies, reach, modes, unit, masks
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
        unit: Unit = "clump",
        masks: Sequence[ArrayLike] | None = None,
    ) -> None:
        if unit not in ("clump", "image"):
            raise ValueError(f"the E that has to fall is of a 'clump' or an 'image'; given was {unit!r}")
        if masks is not None and len(masks) != len(images):
            raise ValueError(f"found clumps are one mask an image; given were {len(masks)} for {len(images)} images")
        self.settings = find_settings(setting)
        self.setting = setting if isinstance(setting, str) else "own"
        self.clumps = [known for image in images for known in image]
        self.shapes = WeightedShapes(np.concatenate([known.radii for known in self.clumps]), copies=copies, modes=modes)
        if reach and self.settings.reach_weight > 0:
            self.shapes.reach = learn_reach(self.clumps, float(self.shapes.plain.mean.mean()))
        self.origins: list[tuple[str, int, int]] = [
            (known.image, known.clump.label, int(cell))
            for known in self.clumps
            for cell in known.clump.cells[known.whole]
        ]
        self.groups: list[Group] = []
        first = 0
        for index, image in enumerate(images):
            count = sum(len(known.radii) for known in image)
            numbers = {cell: first + place for place, (_, _, cell) in enumerate(self.origins[first : first + count])}
            first += count
            evolved = [known.clump for known in image] if masks is None else _found_clumps(image, masks[index])
            parts = [evolved] if unit == "image" else [[clump] for clump in evolved]
            for part in parts:
                own = [numbers[cell] for clump in part for cell in clump.cells.tolist() if cell in numbers]
                self.groups.append(Group(part, evolved, tuple(own)))

    @property
    def reached(self) -> int:
        """Number of examples whose weight can be raised: all but those whose seed no found clump holds."""
        return sum(len(group.examples) for group in self.groups)

    def order(self, seed: int, cycle: int) -> Order:
        """Groups with examples, and these, in the order of a cycle."""
        rng = np.random.default_rng([seed, cycle])
        filled = [number for number, group in enumerate(self.groups) if group.examples]
        return [
            (number, rng.permutation(self.groups[number].examples).tolist())
            for number in rng.permutation(filled).tolist()
        ]

    def energy(self, group: int, weights: NDArray[np.float64]) -> int:
        """Terminated E of a group in pixels, under the prior of these weights."""
        prior, chosen = self.shapes.prior(weights), self.groups[group]
        scale = estimate_scale(chosen.image, prior)
        return sum(
            evolve_at_resolution(clump, prior, self.settings, scale, None).history[-1] for clump in chosen.clumps
        )


def _found_clumps(known: list[AnnotatedClump], mask: ArrayLike) -> list[Clump]:
    """Clumps of a found mask with the cells whose seeds lie in it, numbered as they are in the image."""
    cells = np.concatenate([one.clump.cells for one in known])
    seeds = np.concatenate([one.clump.seeds + np.reshape(one.clump.origin, (1, 2)) for one in known])
    inside = np.empty_like(seeds)
    inside[cells] = seeds
    return [clump for clump in split_clumps(check_mask(mask), inside) if clump.cells.size]


def _raises(
    training: Training, energies: Energies, now: LearningState, order: Order, step: float, tries: int
) -> Iterator[Step]:
    """Go through the examples of the group that is next, raise their weights, and give every accepted raise."""
    group, examples = order[now.clumps]
    for place, example in enumerate(examples):
        for _ in range(tries):
            if example in now.failed:
                break
            coming = list(_coming(order[now.clumps :], place, now.failed))
            before, after = (energies.energy(task, coming) for task in ((group, None), (group, example)))
            if after >= before:
                now.failed.add(example)
                break
            now.weights, now.failed = _raise_weights(now.weights, example, step), set()
            energies.forget(but={(group, None): after})
            weight = float(now.weights[example])
            yield Step(now.cycle + 1, *training.origins[example], weight, before, after)


def _coming(order: Order, place: int, failed: set[int]) -> Iterator[Task]:
    """Energies that will be asked for if nothing is accepted; the first group is left to do from a place on."""
    for group, examples in order:
        left = [example for example in examples[place:] if example not in failed]
        if left:
            yield group, None
            yield from ((group, example) for example in left)
        place = 0


def _raise_weights(weights: NDArray[np.float64], example: int, step: float) -> NDArray[np.float64]:
    raised = weights.copy()
    raised[example] += step
    return raised
