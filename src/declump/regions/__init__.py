"""From an image to regions: where there is any cell, and where the nuclei are."""

from declump.regions.find import find_regions
from declump.regions.record import Regions, seeds_from_labels

__all__ = ["Regions", "find_regions", "seeds_from_labels"]
