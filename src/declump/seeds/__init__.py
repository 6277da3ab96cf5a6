"""One point in each object of a mask, from its shape alone."""

from declump.seeds.find import find_seeds

__all__ = ["find_seeds"]
