"""Files in and out: images, masks and labels read, results written and read back."""

from declump.io.formats import FORMATS
from declump.io.images import read_image, read_labels, read_mask, read_mask_stack
from declump.io.results import read, read_contours, write_results

__all__ = [
    "FORMATS",
    "read",
    "read_contours",
    "read_image",
    "read_labels",
    "read_mask",
    "read_mask_stack",
    "write_results",
]
