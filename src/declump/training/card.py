"""What is written in a model of its training."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch

from declump.models import read_card
from declump.training.schedule import Curve, Schedule


def describe_training(
    schedule: Schedule, *, held_out: Collection[str], simulated: int, composites: int, curve: Curve
) -> dict[str, Any]:
    """Tell what a network learnt from, and how, for its card."""
    return {
        "held out": sorted(held_out),
        "simulated smears": simulated,
        "composites": composites,
        "steps": schedule.steps,
        "windows a batch": schedule.size,
        "seed": schedule.seed,
        "began with": None if schedule.start is None else schedule.start.name,
        "torch": str(torch.__version__),
        "curve": curve,
        **({} if schedule.rate is None else {"rate": schedule.rate}),
    }


def read_calibration(start: Path | None) -> tuple[float, float] | None:
    """Give the calibration of the model that a training began with; None if it began with none."""
    if start is None or start.suffix != ".onnx":
        return None
    kept = read_card(start).get("calibration")
    return None if kept is None else (float(kept[0]), float(kept[1]))
