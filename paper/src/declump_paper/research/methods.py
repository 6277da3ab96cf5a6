"""The methods of the experiments, by name: our own with other solvers or learning, and the compared ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from declump.evidence.proposals import propose_rays
from declump.evolution.evolve import Solver, evolve
from declump.evolution.settings import SETTINGS, Settings
from declump.evolution.trust_region import evolve_clump
from declump.pipelines.cells import segment
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.shapes.prior import ShapePrior
from declump_paper.evolution.aligned import evolve_clump_aligned_each_time
from declump_paper.methods import METHODS, find_method
from declump_paper.methods import OURS as DECLUMP
from declump_paper.research.ablations.examples import evolve_clump_by_examples
from declump_paper.research.ablations.level_sets import evolve_clump_by_level_sets
from declump_paper.research.ablations.published_level_sets import ImageSolver, segment_by_lsf, segment_by_mcl
from declump_paper.research.learning import FULL, PLAIN, Learning

SOLVERS: dict[str, Solver] = {
    "trust region": evolve_clump,
    "aligned each time": evolve_clump_aligned_each_time,
    "examples": evolve_clump_by_examples,
    "level sets": evolve_clump_by_level_sets,
}
"""What finds the shapes of a clump: the method itself, its other reading, and the paper's ablations F and M."""
IMAGE_SOLVERS: dict[str, ImageSolver] = {"level sets of LSF": segment_by_lsf, "level sets of MCL": segment_by_mcl}
"""The same for ablations that look at the image: M with the level sets of the methods that the paper cites for it."""
ADDED_RADIUS = 3
"""Radius in pixels of the nucleus that a cell without one gets."""


@dataclass(frozen=True)
class ExperimentMethod:
    """A method as the experiments test it: what it learns, and what finds the shapes of a clump.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        As in tables.
    settings : Settings, optional
        How clumps are evolved; None for a compared method.
    learning : Learning, optional
        How its prior is learnt; None for a method that heeds none.
    evidence : "clump" or "rays"
    solver : str
        Name in ``SOLVERS`` or ``IMAGE_SOLVERS``: what finds the shapes of a clump.
    printed : str, optional
        Its row in the paper's tables.
    group : "ours", "ablation", "compared" or "study"
    completed : bool
        Whether its nuclei are completed first, as ``declump segment`` does it: candidates that rays bear out, and seeds
        where nothing is explained. Without, all methods get the same nuclei.
    """

    name: str
    title: str
    settings: Settings | None
    learning: Learning | None
    evidence: Literal["clump", "rays"] = "clump"
    solver: str = "trust region"
    printed: str | None = None
    group: Literal["ours", "ablation", "compared", "study"] = "ours"
    completed: bool = False

    @property
    def borrows_nuclei(self) -> bool:
        """Whether declump completes the nuclei for it: with rays of its own it does so itself."""
        return self.completed and self.evidence == "clump"

    def segment(
        self,
        image: ArrayLike,
        regions: Regions,
        prior: ShapePrior | None,
        *,
        rays: Path | None = None,
    ) -> Segmentation:
        """Segment an image whose regions are known.

        Parameters
        ----------
        image : (H, W) or (H, W, 3)
        regions : Regions
        prior : ShapePrior, optional
            What the method learnt.
        rays : Path, optional
            Ray model that did not see the image.

        Returns
        -------
        Segmentation
            One row a nucleus, then those that were added.
        """
        if self.settings is None:
            method = find_method(self.name.removesuffix("+"))
            options: dict[str, Any] = {"prior": prior} if "prior" in method.options else {}
            return method(image, regions, **options)
        assert prior is not None
        if self.solver in IMAGE_SOLVERS:
            return IMAGE_SOLVERS[self.solver](image, regions, prior)
        if self.evidence == "clump":
            solver = SOLVERS[self.solver]
            return evolve(regions.clump, regions.seeds, prior=prior, setting=self.settings, solver=solver)
        if rays is None:
            raise ValueError(f"the method {self.name!r} needs a ray model that did not see the image")
        if self.completed:
            return segment(image, regions=regions, evidence="rays", rays=rays, prior=prior, setting=self.settings)
        evidence = propose_rays(image, regions, model=rays)
        return evolve(regions.clump, regions.seeds, evidence=evidence, prior=prior, setting=self.settings)

    def record(self) -> dict[str, Any]:
        """Everything the results depend on, for fingerprints and ``run.json``."""
        fields: dict[str, Any] = {"name": self.name, "evidence": self.evidence}
        fields |= {"completed": True} if self.completed else {}
        learning = None if self.learning is None else asdict(self.learning)
        if self.settings is None:
            return {**fields, "reference": find_method(self.name.removesuffix("+")).reference, "learning": learning}
        settings = {name: repr(value) for name, value in asdict(self.settings).items()}
        return {**fields, "solver": self.solver, "settings": settings, "learning": learning}


_JOINT, _PAPER = SETTINGS["joint"], SETTINGS["paper"]
_PRINTED = replace(PLAIN, importance="image")
OURS = (
    ExperimentMethod("joint", "declump", _JOINT, FULL),
    ExperimentMethod("rays", "declump (rays)", _JOINT, FULL, evidence="rays"),
    ExperimentMethod("paper", "paper, aligned once", _PAPER, _PRINTED, printed="Ours"),
    ExperimentMethod("L", "paper-L: no importance", _PAPER, PLAIN, printed="Ours-L", group="ablation"),
    ExperimentMethod("each", "paper-L, aligned each time", _PAPER, PLAIN, solver="aligned each time", group="ablation"),
    ExperimentMethod(
        "F",
        "paper-F: finite set",
        _PAPER,
        replace(PLAIN, with_examples=True),
        solver="examples",
        printed="Ours-F",
        group="ablation",
    ),
    ExperimentMethod(
        "M",
        "paper-M: level sets",
        _PAPER,
        _PRINTED,
        solver="level sets",
        printed="Ours-M",
        group="ablation",
    ),
    ExperimentMethod(
        "M-lsf", "paper-M, level sets of LSF", _PAPER, _PRINTED, solver="level sets of LSF", group="ablation"
    ),
    ExperimentMethod(
        "M-mcl", "paper-M, level sets of MCL", _PAPER, _PRINTED, solver="level sets of MCL", group="ablation"
    ),
)
"""Our own methods: ``paper`` with everything that is printed, and the paper's ablations as changes of it."""
PAPER_ROWS = {"lsf": "LSF", "mcl": "MCL", "mpw": "MPW", "cf": "CF"}
"""Rows of the paper's tables that belong to compared methods."""


def complete_nuclei(image: ArrayLike, regions: Regions, rays: Path, prior: ShapePrior) -> Regions:
    """Give regions with the nuclei that ``declump segment`` works with in the end, for methods without rays.

    Candidates that the rays bear out become nuclei; a large part of a clump that no cell explains gets a small one.

    Parameters
    ----------
    image : (H, W) or (H, W, 3)
    regions : Regions
        As found.
    rays : Path
        Ray model that did not see the image.
    prior : ShapePrior
        What declump learns.
    """
    found = segment(image, regions=regions, evidence="rays", rays=rays, prior=prior)
    assert found.nuclei is not None
    nuclei = found.nuclei.copy()
    rows, columns = np.indices(nuclei.shape)
    for row, column in found.seeds[int(nuclei.max()) :]:
        near = np.hypot(rows - row, columns - column) <= ADDED_RADIUS
        nuclei[near & (nuclei == 0) & regions.clump] = int(nuclei.max()) + 1
    return Regions(regions.clump, nuclei)


def available_methods(*, rays: bool, found: bool = False) -> tuple[ExperimentMethod, ...]:
    """Give all methods that can run, compared ones after our own; then those with completed nuclei.

    Parameters
    ----------
    rays : bool
        Whether there are ray models.
    found : bool
        Whether nuclei are found, so that they can be completed with the help of rays.
    """
    compared = [
        ExperimentMethod(
            name,
            method.title,
            None,
            FULL if "prior" in method.options else None,  # the best we know: a weak opponent proves nothing
            printed=PAPER_ROWS.get(name),
            group="compared",
        )
        for name, method in METHODS.items()
        if name != DECLUMP
    ]
    own = [method for method in OURS if rays or method.evidence != "rays"]
    completed = [
        replace(method, name=f"{method.name}+", title=f"{method.title}, nuclei completed", printed=None, completed=True)
        for method in (*own, *compared)
        if rays and found and method.group != "ablation"
    ]
    return (*own, *compared, *completed)


def choose_methods(names: Sequence[str] | None, *, rays: bool, found: bool = False) -> tuple[ExperimentMethod, ...]:
    """Give methods by name, all of them for None, in the order of the tables.

    Raises
    ------
    ValueError
        If there is no such method, or none is named.
    """
    there = available_methods(rays=rays, found=found)
    if names is None:
        return there
    unknown = [name for name in names if name not in {method.name for method in there}]
    if unknown or not names:
        known = ", ".join(method.name for method in there)
        lacking = " (it needs ray models)" if "rays" in unknown else ""
        lacking = (
            " (nuclei are completed where they are found, with ray models)" if "+" in "".join(unknown) else lacking
        )
        raise ValueError(f"there is no method {', '.join(map(repr, unknown)) or 'named'}{lacking}; choose of {known}")
    return tuple(method for method in there if method.name in names)
