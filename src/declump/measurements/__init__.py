"""What a cytologist reads off a segmentation: sizes, shapes, nuclei, overlap, density, and how far to trust a cell."""

from declump.measurements.calibration import Calibration, calibration_curve
from declump.measurements.columns import CELL_COLUMNS, CLUMP_COLUMNS, IMAGE_COLUMNS, Column
from declump.measurements.confidence import Confidence, confidence_features, fit_confidence
from declump.measurements.tables import Measurements, measure

__all__ = [
    "CELL_COLUMNS",
    "CLUMP_COLUMNS",
    "IMAGE_COLUMNS",
    "Calibration",
    "Column",
    "Confidence",
    "Measurements",
    "calibration_curve",
    "confidence_features",
    "fit_confidence",
    "measure",
]
