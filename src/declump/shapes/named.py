"""The priors that :meth:`declump.ShapePrior.load` knows by name: files that come with declump, and shapes it makes."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from declump.shapes.round import describe_round_shapes

SHIPPED = {"default": "prior.npz", "cytoplasm": "prior.npz", "paper": "paper.npz", "nucleus": "nucleus.npz"}
"""Files in ``declump/data`` by name."""
MADE = {"round": describe_round_shapes}
"""What gives the mean, modes and variances of shapes that are in no file, by name."""
NAMES = (*SHIPPED, *MADE)


def find_shipped(name: str) -> Path | None:
    """Give the path of the file that comes with declump under a name, if there is one."""
    return Path(str(resources.files("declump") / "data" / SHIPPED[name])) if name in SHIPPED else None
