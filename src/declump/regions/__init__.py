"""From an image to regions: where there is any cell, and where the nuclei are."""

from declump.records.regions import Regions, seeds_from_labels
from declump.regions.find import find_regions
from declump.regions.options import RegionOptions

__all__ = ["RegionOptions", "Regions", "find_regions", "seeds_from_labels"]
