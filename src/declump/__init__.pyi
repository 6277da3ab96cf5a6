from . import (
    batch,
    bridges,
    data,
    datasets,
    evaluation,
    evidence,
    io,
    pictures,
    report,
    review,
    simulate,
    slides,
    training,
)
from .evaluation import Score, score
from .evolution.evolve import evolve
from .evolution.settings import Settings
from .images.focus import fuse_stack
from .measurements import Measurements, measure
from .pipelines.cells import find_statistics, segment
from .pipelines.nuclei import segment_nuclei
from .pipelines.objects import split
from .pipelines.seeds import find_seeds
from .records.clump import SeedOutsideWarning
from .records.evidence import Evidence
from .records.regions import Regions, seeds_from_labels
from .records.segmentation import Segmentation
from .records.statistics import ImageStatistics
from .regions.find import find_regions
from .regions.options import RegionOptions
from .shapes.examples import ShapeExamples, shape_examples
from .shapes.prior import ShapePrior
from .training.prior import learn_prior

__all__ = [
    "Evidence",
    "ImageStatistics",
    "Measurements",
    "RegionOptions",
    "Regions",
    "Score",
    "SeedOutsideWarning",
    "Segmentation",
    "Settings",
    "ShapeExamples",
    "ShapePrior",
    "batch",
    "bridges",
    "data",
    "datasets",
    "evaluation",
    "evidence",
    "evolve",
    "find_regions",
    "find_seeds",
    "find_statistics",
    "fuse_stack",
    "io",
    "learn_prior",
    "measure",
    "pictures",
    "report",
    "review",
    "score",
    "seeds_from_labels",
    "segment",
    "segment_nuclei",
    "shape_examples",
    "simulate",
    "slides",
    "split",
    "training",
]

__version__: str
