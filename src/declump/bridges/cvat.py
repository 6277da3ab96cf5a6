"""An auto-annotation function for CVAT: every cell a polygon, with few vertices so that people can correct it.

    cvat-cli task auto-annotate 137 --function-module declump.bridges.cvat -p tolerance=float:1.5

The task needs a label ``cell``, and with ``-p nuclei=bool:true`` one ``nucleus``, each for polygons.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from declump.bridges.polygons import TOLERANCE, simplify_outline
from declump.io.formats.parts.tracing import trace_nuclei
from declump.measurements.tables import measure
from declump.pipelines.cells import segment

CELL, NUCLEUS = 0, 1


@dataclass(frozen=True)
class CellDetector:
    """Finds cells in the images of a task.

    Attributes
    ----------
    tolerance : float
        Farthest that a vertex which is left out lies from an outline, in pixels.
    nuclei : bool
        Whether nuclei are annotated, too.
    pixel_size : float, optional
        Micrometres a pixel.
    """

    tolerance: float = TOLERANCE
    nuclei: bool = False
    pixel_size: float | None = None

    @cached_property
    def spec(self) -> Any:
        """What it can find, for CVAT."""
        from cvat_sdk import auto_annotation

        names = {"cell": CELL} | ({"nucleus": NUCLEUS} if self.nuclei else {})
        labels = [auto_annotation.label_spec(name, number, type="polygon") for name, number in names.items()]
        return auto_annotation.DetectionFunctionSpec(labels=labels)

    def detect(self, context: Any, image: Any) -> list[Any]:
        """Find the cells of an image of Pillow; those of less confidence than CVAT asks for are left out."""
        from cvat_sdk import auto_annotation

        pixels = np.asarray(image if image.mode in ("L", "RGB", "I;16", "F") else image.convert("RGB"))
        result = segment(pixels, pixel_size=self.pixel_size)
        if context.conf_threshold:
            result = result.keep(measure(result, pixels).cells["confidence"] >= context.conf_threshold)
        outlines = [(CELL, outline) for outline in result.polygons]
        if self.nuclei:
            outlines += [(NUCLEUS, outline) for outline in trace_nuclei(result) if outline is not None]
        shapes = []
        for label, outline in outlines:
            ring = simplify_outline(outline, result.shape, self.tolerance)
            if ring is not None:
                shapes.append(auto_annotation.polygon(label, ring.round(2).ravel().tolist()))
        return shapes


def create(tolerance: float = TOLERANCE, nuclei: bool = False, pixel_size: float | None = None) -> CellDetector:
    """Make the function; ``cvat-cli`` calls this with what stands after ``-p``."""
    return CellDetector(tolerance, nuclei, pixel_size)
