"""Methods that others published for the same task: one file each, one signature, all on the same regions."""

from __future__ import annotations

from declump_paper.compared.methods import METHODS, ComparedMethod, find_method

__all__ = ["METHODS", "ComparedMethod", "find_method"]
