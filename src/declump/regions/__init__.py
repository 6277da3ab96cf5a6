"""From an image to regions: where there is any cell, and where the nuclei are."""

from declump.records.regions import Regions, seeds_from_labels
from declump.regions.find import find_regions

__all__ = ["Regions", "find_regions", "seeds_from_labels"]
