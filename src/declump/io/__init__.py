"""Files in and out: images, masks and labels read, results written and read back."""

from declump.images.decoding import ENDINGS
from declump.images.pixel_sizes import read_pixel_size
from declump.images.reading import (
    count_images,
    read_image,
    read_labels,
    read_mask,
    read_mask_stack,
    read_size,
    read_stack,
)
from declump.images.stacks import list_images
from declump.io.cell_sets import find_cell_sets, pair_cell_sets
from declump.io.formats import FORMATS, format_names
from declump.io.formats.parts.metadata import find_metadata
from declump.io.results import read, read_contours, write_results
from declump.io.slide_results import open_slide_result

__all__ = [
    "ENDINGS",
    "FORMATS",
    "count_images",
    "find_cell_sets",
    "find_metadata",
    "format_names",
    "list_images",
    "open_slide_result",
    "pair_cell_sets",
    "read",
    "read_contours",
    "read_image",
    "read_labels",
    "read_mask",
    "read_mask_stack",
    "read_pixel_size",
    "read_size",
    "read_stack",
    "write_results",
]
