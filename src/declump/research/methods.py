"""The methods of the experiments, by name: our own with other solvers or learning, and the compared ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from declump.evidence.proposals import propose_rays
from declump.evolution.evolve import Solver, evolve
from declump.evolution.settings import SETTINGS, Settings
from declump.evolution.trust_region import evolve_clump
from declump.methods import METHODS, find_method
from declump.methods import OURS as DECLUMP
from declump.pipelines.cells import segment
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.research.ablations.examples import evolve_clump_by_examples
from declump.research.ablations.level_sets import evolve_clump_by_level_sets
from declump.research.learning import FULL, PLAIN, Learning
from declump.shapes.prior import ShapePrior

SOLVERS: dict[str, Solver] = {
    "trust region": evolve_clump,
    "examples": evolve_clump_by_examples,
    "level sets": evolve_clump_by_level_sets,
}
"""What finds the shapes of a clump: the method itself, and the paper's ablations F and M."""


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
        Name in ``SOLVERS``: what finds the shapes of a clump.
    printed : str, optional
        Its row in the paper's tables.
    group : "ours", "ablation", "compared" or "study"
    """

    name: str
    title: str
    settings: Settings | None
    learning: Learning | None
    evidence: Literal["clump", "rays"] = "clump"
    solver: str = "trust region"
    printed: str | None = None
    group: Literal["ours", "ablation", "compared", "study"] = "ours"

    def segment(
        self,
        image: ArrayLike,
        regions: Regions,
        prior: ShapePrior | None,
        *,
        rays: Path | None = None,
        complete: bool = False,
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
        complete : bool
            Whether a method with ray proposals may add cells that have no nucleus, as ``declump segment`` does.

        Returns
        -------
        Segmentation
            One row a nucleus, then those that were added.
        """
        if self.settings is None:
            method = find_method(self.name)
            options: dict[str, Any] = {"prior": prior} if "prior" in method.options else {}
            return method(image, regions, **options)
        assert prior is not None
        if self.evidence == "clump":
            solver = SOLVERS[self.solver]
            return evolve(regions.clump, regions.seeds, prior=prior, setting=self.settings, solver=solver)
        if rays is None:
            raise ValueError(f"the method {self.name!r} needs a ray model that did not see the image")
        if complete:
            return segment(image, regions=regions, evidence="rays", rays=rays, prior=prior, setting=self.settings)
        evidence = propose_rays(image, regions, model=rays)
        return evolve(regions.clump, regions.seeds, evidence=evidence, prior=prior, setting=self.settings)

    def record(self) -> dict[str, Any]:
        """Everything the results depend on, for fingerprints and ``run.json``."""
        fields = {"name": self.name, "evidence": self.evidence}
        learning = None if self.learning is None else asdict(self.learning)
        if self.settings is None:
            return {**fields, "reference": find_method(self.name).reference, "learning": learning}
        settings = {name: repr(value) for name, value in asdict(self.settings).items()}
        return {**fields, "solver": self.solver, "settings": settings, "learning": learning}


_JOINT, _PAPER = SETTINGS["joint"], SETTINGS["paper"]
_PRINTED = replace(PLAIN, importance="image")
OURS = (
    ExperimentMethod("joint", "declump", _JOINT, FULL),
    ExperimentMethod("rays", "declump (rays)", _JOINT, FULL, evidence="rays"),
    ExperimentMethod("paper", "paper, aligned once", _PAPER, _PRINTED, printed="Ours"),
    ExperimentMethod("L", "paper-L: no importance", _PAPER, PLAIN, printed="Ours-L", group="ablation"),
    ExperimentMethod("each", "paper-L, aligned each time", SETTINGS["paper-each"], PLAIN, group="ablation"),
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
)
"""Our own methods: ``paper`` with everything that is printed, and the paper's ablations as changes of it."""
PAPER_ROWS = {"lsf": "LSF", "mcl": "MCL", "mpw": "MPW", "cf": "CF"}
"""Rows of the paper's tables that belong to compared methods."""


def available_methods(*, rays: bool) -> tuple[ExperimentMethod, ...]:
    """Give all methods that can run, compared ones last.

    Parameters
    ----------
    rays : bool
        Whether there are ray models.
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
    return (*(method for method in OURS if rays or method.evidence != "rays"), *compared)


def choose_methods(names: Sequence[str] | None, *, rays: bool) -> tuple[ExperimentMethod, ...]:
    """Give methods by name, all of them for None, in the order of the tables.

    Raises
    ------
    ValueError
        If there is no such method, or none is named.
    """
    there = available_methods(rays=rays)
    if names is None:
        return there
    unknown = [name for name in names if name not in {method.name for method in there}]
    if unknown or not names:
        known = ", ".join(method.name for method in there)
        lacking = " (it needs ray models)" if "rays" in unknown else ""
        raise ValueError(f"there is no method {', '.join(map(repr, unknown)) or 'named'}{lacking}; choose of {known}")
    return tuple(method for method in there if method.name in names)
