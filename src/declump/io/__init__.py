"""Files in and out: images, masks and labels read, results written and read back."""

from declump.io.images import read_image, read_labels, read_mask, read_mask_stack
from declump.io.results import read_contours, write_results

__all__ = [
    "read_contours",
    "read_image",
    "read_labels",
    "read_mask",
    "read_mask_stack",
    "write_results",
]
