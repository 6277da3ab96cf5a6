"""All methods on one image, on the same regions: what each finds, how long it takes, how good it is."""

from declump.comparison.side_by_side import Compared, compare, method_names, write_comparison

__all__ = ["Compared", "compare", "method_names", "write_comparison"]
