"""What is written in a model of its training."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch

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
    }
