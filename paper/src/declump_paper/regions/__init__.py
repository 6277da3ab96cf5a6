"""Regions as the paper finds them: a network of classes alone, cleaned by a Markov random field."""

from declump_paper.regions.find import find_regions

__all__ = ["find_regions"]
