"""Which images teach and which are tested, with what regions: the protocol of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from declump.evidence.proposals import open_ray_model
from declump.models import read_card
from declump.regions.inference import open_region_model
from declump.regions.judge import open_judge
from declump_paper.folds import folds

Way = Literal["paper", "conventional"]


@dataclass(frozen=True)
class Fold:
    """One part of the validation.

    Attributes
    ----------
    number : int
        From 1.
    train, test : tuple of int
        Which images teach, and which are tested.
    own : tuple of int
        Images that, over all folds, are in exactly one fold: what learns nothing is run on these.
    regions, rays, judge : Path, optional
        Networks that saw none of the tested images.
    """

    number: int
    train: tuple[int, ...]
    test: tuple[int, ...]
    own: tuple[int, ...]
    regions: Path | None = None
    rays: Path | None = None
    judge: Path | None = None


@dataclass(frozen=True)
class Plan:
    """All folds, and where regions come from.

    Attributes
    ----------
    folds : tuple of Fold
    way : str
        In words, for tables.
    regions : "true", "train" or "models"
    """

    folds: tuple[Fold, ...]
    way: str
    regions: Literal["true", "train", "models"]

    @property
    def matching(self) -> Literal["order", "greedy"]:
        """How cells are matched: by their nuclei where these are the true ones."""
        return "order" if self.regions == "true" else "greedy"


def plan_folds(
    count: int,
    *,
    n_folds: int = 5,
    way: Way = "paper",
    groups: Sequence[int] | None = None,
    regions: Literal["true", "train"] = "true",
    seed: int = 0,
) -> Plan:
    """Divide images into folds.

    Parameters
    ----------
    count : int
        Number of images.
    n_folds : int
    way : "paper" or "conventional"
        One part teaches and the others are tested, or the other way round.
    groups : sequence of int, optional
        See :func:`declump_paper.folds.folds`.
    regions : "true" or "train"
        True regions, or those of a network that is trained on each fold's training part.
    seed : int

    Returns
    -------
    Plan
    """
    parts = folds(count, n_folds=n_folds, rng=seed, train="one", groups=groups)
    made = []
    for number, (one, rest) in enumerate(parts, start=1):
        train, test = (one, rest) if way == "paper" else (rest, one)
        made.append(Fold(number, _indices(train), _indices(test), _indices(one)))
    share = f"1/{n_folds} of the images teaches, {n_folds - 1}/{n_folds} are tested (the paper's way)"
    if way == "conventional":
        share = f"{n_folds - 1}/{n_folds} of the images teach, 1/{n_folds} is tested (the conventional way)"
    return Plan(tuple(made), f"{n_folds} folds, {share}", regions)


def plan_models(
    names: Sequence[str],
    regions: Sequence[Path],
    rays: Sequence[Path],
    groups: Sequence[int] | None = None,
    *,
    judges: Sequence[Path] = (),
) -> Plan:
    """Test each image with models that did not see it, and learn the prior from the others.

    Parameters
    ----------
    names : sequence of str
        Names of all images.
    regions, rays : sequences of Path
        Models of ``declump train``; their cards name the images that were held out. Without region models the regions
        are true.
    groups : sequence of int, optional
        Images with the same number show the same cells: one counts as seen if any of them was.
    judges : sequence of Path
        Models of ``declump train judge``, to go with the region models; without any, nuclei are found by rules.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If a model is of another kind, or does not tell what was held out, none of the images was, no ray model or judge
        fits a region model, or there are judges and no region models.
    """
    if judges and not regions:
        raise ValueError("a judge tells which spots that a region model finds are nuclei; give region models, too")
    leading = regions or rays
    unseen = {path: _find_unseen(path, names, groups) for path in (*regions, *rays, *judges)}
    openers: list[tuple[Sequence[Path], Callable[[Path], object]]]
    openers = [(regions, open_region_model), (rays, open_ray_model), (judges, open_judge)]
    for paths, open_one in openers:
        for path in paths:
            open_one(path)  # a model of another kind is refused before a run of hours begins

    def find_partner(path: Path, others: Sequence[Path], kind: str) -> Path | None:
        if not others:
            return None
        partner = next((other for other in others if unseen[path] <= unseen[other]), None)
        if partner is None:
            raise ValueError(f"{path} needs a {kind} that holds out the same images; none of those given does")
        return partner

    made: list[Fold] = []
    taken: set[int] = set()
    for path in leading:
        test = tuple(sorted(unseen[path] - taken))
        taken |= unseen[path]
        train = tuple(index for index in range(len(names)) if index not in unseen[path])
        if test and train:
            proposing = find_partner(path, rays, "ray model") if regions else path
            judge = find_partner(path, judges, "judge")
            made.append(Fold(len(made) + 1, train, test, test, path if regions else None, proposing, judge))
    if not made:
        raise ValueError("the models have seen every image of this data, or none of it, so that nothing can be tested")
    way = f"images that the models did not see, {sum(len(fold.test) for fold in made)} of {len(names)}"
    return Plan(tuple(made), f"{way}; the prior is learnt from the others", "models" if regions else "true")


def _find_unseen(path: Path, names: Sequence[str], groups: Sequence[int] | None) -> set[int]:
    """Images that a model did not see, by its card."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no model {path}; give an .onnx file of 'declump train'")
    try:
        card = read_card(path)
    except Exception as error:  # onnxruntime has no base class for what a damaged file leads to
        raise ValueError(f"{path} is not a model that declump wrote ({' '.join(str(error).split())[:120]})") from error
    held_out = card.get("held out")
    if not held_out:
        raise ValueError(f"{path} does not tell which images it did not see; give a model for which some were held out")
    outside = {index for index, name in enumerate(names) if name not in held_out}
    if groups is not None:
        touched = {groups[index] for index in outside}
        outside |= {index for index, group in enumerate(groups) if group in touched}
    return set(range(len(names))) - outside


def _indices(array: np.ndarray) -> tuple[int, ...]:
    return tuple(int(index) for index in array)
