"""All methods on one image, on the same regions: what each finds, how long it takes, how good it is."""

from declump.comparison.running import Compared, compare
from declump.comparison.writing import write_comparison
from declump.methods import method_names

__all__ = ["Compared", "compare", "method_names", "write_comparison"]
