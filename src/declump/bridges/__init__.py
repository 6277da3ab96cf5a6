"""Bridges into programs that users have already: each translates types and calls the rooms below, nothing else."""

from declump.bridges.bioimageio import export_models

__all__ = ["export_models"]
