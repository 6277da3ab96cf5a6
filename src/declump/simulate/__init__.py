"""Synthetic cervical smears with exact overlapping truth."""

from declump.simulate.smears import Smear, smear
from declump.simulate.writing import write

__all__ = ["Smear", "smear", "write"]
