"""Pictures for people: outlines drawn over an image, cells one by one, methods compared, and a clump growing."""

from declump.pictures.comparison import comparison_picture
from declump.pictures.display import mosaic, to_display
from declump.pictures.grid import cell_grid
from declump.pictures.growth import Growth, growth_strip, record_growth, write_growth
from declump.pictures.outlines import overlay
from declump.pictures.palette import COLOURS, RAMP, UNKNOWN, Scale, category_colours
from declump.pictures.pen import WIDTH
from declump.pictures.strokes import DASH, GAP, nucleus_outlines, runs
from declump.pictures.worst import FoundCell, worst_cells

__all__ = [
    "COLOURS",
    "DASH",
    "GAP",
    "RAMP",
    "UNKNOWN",
    "WIDTH",
    "FoundCell",
    "Growth",
    "Scale",
    "category_colours",
    "cell_grid",
    "comparison_picture",
    "growth_strip",
    "mosaic",
    "nucleus_outlines",
    "overlay",
    "record_growth",
    "runs",
    "to_display",
    "worst_cells",
    "write_growth",
]
