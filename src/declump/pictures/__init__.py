"""Pictures for people: outlines drawn over an image, cells one by one, and those that are worst."""

from declump.drawing.display import to_display
from declump.drawing.palette import COLOURS, RAMP, UNKNOWN, Scale
from declump.drawing.pen import WIDTH
from declump.drawing.strokes import DASH, GAP, runs
from declump.pictures.colouring import category_colours
from declump.pictures.grid import cell_grid
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
    "Scale",
    "category_colours",
    "cell_grid",
    "mosaic",
    "nucleus_outlines",
    "overlay",
    "runs",
    "to_display",
    "worst_cells",
]
