"""Pictures of the paper: methods side by side, and a clump growing."""

from declump_paper.pictures.comparison import comparison_picture
from declump_paper.pictures.growth import Growth, growth_strip, record_growth, write_growth

__all__ = ["Growth", "comparison_picture", "growth_strip", "record_growth", "write_growth"]
