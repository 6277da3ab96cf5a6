"""declump: every cell of an overlapping clump, whole.

The public names are imported when they are first used, so that ``import declump`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from declump import datasets, evaluation, importance, io, pictures, simulate
    from declump.contours import ShapeExamples, shape_examples
    from declump.evaluation import Score, score
    from declump.learning import learn_prior
    from declump.measurements import Measurements, measure
    from declump.nuclear import segment_nuclei
    from declump.pipeline import evolve, segment
    from declump.prior import ShapePrior
    from declump.regions import Regions, find_regions
    from declump.seeds import find_seeds
    from declump.segmentation import Segmentation
    from declump.settings import Settings
    from declump.splitting import split

__version__ = "0.1.0"

_HOME = {
    "Measurements": "declump.measurements",
    "Regions": "declump.regions",
    "Score": "declump.evaluation",
    "Segmentation": "declump.segmentation",
    "Settings": "declump.settings",
    "ShapeExamples": "declump.contours",
    "ShapePrior": "declump.prior",
    "evolve": "declump.pipeline",
    "find_regions": "declump.regions",
    "find_seeds": "declump.seeds",
    "learn_prior": "declump.learning",
    "measure": "declump.measurements",
    "score": "declump.evaluation",
    "segment": "declump.pipeline",
    "segment_nuclei": "declump.nuclear",
    "shape_examples": "declump.contours",
    "split": "declump.splitting",
}
_MODULES = ("datasets", "evaluation", "importance", "io", "pictures", "simulate")

__all__ = [
    "Measurements",
    "Regions",
    "Score",
    "Segmentation",
    "Settings",
    "ShapeExamples",
    "ShapePrior",
    "datasets",
    "evaluation",
    "evolve",
    "find_regions",
    "find_seeds",
    "importance",
    "io",
    "learn_prior",
    "measure",
    "pictures",
    "score",
    "segment",
    "segment_nuclei",
    "shape_examples",
    "simulate",
    "split",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _MODULES:
        return import_module(f"declump.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'declump' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
