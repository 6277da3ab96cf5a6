"""All methods on one image, on the same regions: what each finds, how long it takes, how good it is."""

from declump_paper.comparison.running import Compared, compare
from declump_paper.comparison.writing import write_comparison
from declump_paper.methods import method_names

__all__ = ["Compared", "compare", "method_names", "write_comparison"]
