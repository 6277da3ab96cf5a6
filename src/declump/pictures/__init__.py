"""Pictures for people: outlines drawn over an image, cells one by one, methods compared, and a clump growing."""

from declump.drawing.display import to_display
from declump.drawing.palette import COLOURS, RAMP, UNKNOWN, Scale
from declump.drawing.pen import WIDTH
from declump.drawing.strokes import DASH, GAP, runs
from declump.pictures.colouring import category_colours
from declump.pictures.comparison import comparison_picture
from declump.pictures.grid import cell_grid
from declump.pictures.growth import Growth, growth_strip, record_growth, write_growth
from declump.pictures.nuclei import nucleus_outlines
from declump.pictures.outlines import overlay
from declump.pictures.sheet import mosaic
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
