"""An ML backend of Label Studio: declump finds all cells of an image, or those that smart key points are set in.

    pip install "declump" label-studio-ml
    label-studio-ml init backend --script integrations/label_studio/model.py
    label-studio-ml start backend

Interface: interface.xml beside this file. Connect the backend with "interactive preannotations" on; a smart key point
is a seed. Environment: DECLUMP_TOLERANCE, in pixels, says how few vertices polygons have (1 by default).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from label_studio_ml.model import LabelStudioMLBase

from declump.bridges.label_studio import Controls, predict_image

try:  # label-studio-ml 2, from its repository
    from label_studio_ml.response import ModelResponse
except ImportError:  # 1, from PyPI
    ModelResponse = None


class Declump(LabelStudioMLBase):
    """Predicts whole cells as polygons."""

    def predict(self, tasks: list[dict[str, Any]], context: dict[str, Any] | None = None, **_: Any) -> Any:
        """Predict the cells of tasks, one image each."""
        controls = Controls.of(self.parsed_label_config)
        tolerance = float(os.environ.get("DECLUMP_TOLERANCE", "1"))
        predictions = []
        for task in tasks:
            path = Path(self.get_local_path(task["data"][controls.value]))
            predictions.append(predict_image(path, controls, context, tolerance))
        return predictions if ModelResponse is None else ModelResponse(predictions=predictions)
