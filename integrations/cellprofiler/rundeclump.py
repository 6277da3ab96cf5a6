"""RunDeclump: a module of CellProfiler 4.2 that finds whole overlapping cells by the command line of declump.

Copy this file into the folder that *Preferences > CellProfiler plugins directory* names, and start CellProfiler again.
declump is installed in a Python (3.11 or later) of its own, whose path is a setting. CellProfiler 4 has Python 3.9 and
does not import declump.

Objects of CellProfiler do not overlap in one set by way of a label image, so overlapping cells come in several sets:
``Cells1`` to ``Cells6``, in each of which none overlaps; cells keep their numbers in the measurement
``Declump_number``. Measurements of declump are joined to the objects of each set as ``Declump_<column>``.
"""

import csv
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy
import tifffile
from cellprofiler_core.constants.measurement import (
    C_COUNT,
    C_LOCATION,
    C_NUMBER,
    COLTYPE_FLOAT,
    FTR_CENTER_X,
    FTR_CENTER_Y,
    FTR_CENTER_Z,
    FTR_OBJECT_NUMBER,
    IMAGE,
)
from cellprofiler_core.module.image_segmentation import ImageSegmentation
from cellprofiler_core.object import Objects
from cellprofiler_core.setting.text import LabelName, Pathname, Text

CATEGORY = "Declump"
SETS = 6
"""Sets of objects; cells in more layers than that are refused."""
COLUMNS = (
    "number", "area_px2", "equivalent_diameter_px", "overlap_degree", "overlap_area_share", "nucleus_area_px2",
    "nucleus_to_cytoplasm_area_ratio", "confidence",
)  # fmt: skip
"""What is joined of cells.csv; number is its id."""


class RunDeclump(ImageSegmentation):
    """Finds whole overlapping cells."""

    module_name = "RunDeclump"
    variable_revision_number = 1
    category = "Object Processing"

    def create_settings(self):
        """Make the settings."""
        super().create_settings()
        self.python = Pathname("Python with declump", doc="The python (python.exe) in which declump is installed.")
        self.names = [
            LabelName(f"Name of set {number}", f"Cells{number}", doc="Cells that overlap lie in different sets.")
            for number in range(1, SETS + 1)
        ]
        self.options = Text("Further options", "", doc="Of the command 'declump segment', such as --pixel-size 0.25.")

    def settings(self):
        """Give the settings in the order in which they are kept."""
        return [self.x_name, self.python, self.options, *self.names]

    def visible_settings(self):
        """Give the settings that are shown."""
        return self.settings()

    def set_names(self):
        """Give the names of the sets of objects."""
        return [name.value for name in self.names]

    def run(self, workspace):
        """Find the cells of one image."""
        image = workspace.image_set.get_image(self.x_name.value)
        planes, table = segment(image.pixel_data, self.python.value, self.options.value.split())
        if len(planes) > SETS:
            raise ValueError(f"these cells lie {len(planes)} deep over each other; there are {SETS} sets")
        for index, name in enumerate(self.set_names()):
            plane = planes[index] if index < len(planes) else numpy.zeros(image.pixel_data.shape[:2], int)
            labels, numbers = renumber(plane)
            objects = Objects()
            objects.segmented = labels
            objects.parent_image = image
            workspace.object_set.add_objects(objects, name)
            self.add_measurements(workspace, name)
            for column in COLUMNS:
                values = numbers if column == "number" else [table[column][number - 1] for number in numbers]
                feature = f"{CATEGORY}_{column}"
                workspace.measurements.add_measurement(name, feature, numpy.array(values, float))

    def get_measurement_columns(self, pipeline):
        """Tell which columns there will be."""
        columns = []
        for name in self.set_names():
            columns += super().get_measurement_columns(pipeline, object_name=name)
            columns += [(name, f"{CATEGORY}_{column}", COLTYPE_FLOAT) for column in COLUMNS]
        return columns

    def get_categories(self, pipeline, object_name):
        """Tell the categories of what is measured of an object."""
        if object_name == IMAGE:
            return [C_COUNT]
        return [CATEGORY, C_LOCATION, C_NUMBER] if object_name in self.set_names() else []

    def get_measurements(self, pipeline, object_name, category):
        """Tell what is measured in a category."""
        if object_name == IMAGE and category == C_COUNT:
            return self.set_names()
        if object_name not in self.set_names():
            return []
        known = {CATEGORY: list(COLUMNS), C_LOCATION: [FTR_CENTER_X, FTR_CENTER_Y, FTR_CENTER_Z]}
        return {**known, C_NUMBER: [FTR_OBJECT_NUMBER]}.get(category, [])

    def display(self, workspace, figure):
        """Show nothing of its own; OverlayOutlines shows each set."""


def segment(pixels, python, options=()):
    """Let declump segment an image in a process of its own.

    Parameters
    ----------
    pixels : (H, W) or (H, W, 3) float
        From 0 to 1, as CellProfiler has images.
    python : str
        The Python in which declump is installed.
    options : sequence of str
        Of ``declump segment``.

    Returns
    -------
    planes : (P, H, W) int
        The numbers of the cells; in none of the planes two overlap.
    table : dict of str to list of float
        Columns of ``cells.csv``, NaN where one is missing, a row a cell.
    """
    if not Path(python).is_file():
        raise ValueError(f"there is no Python at {python!r}: set 'Python with declump'")
    folder = tempfile.mkdtemp(prefix="declump")
    try:
        picture, out = Path(folder, "image.tif"), Path(folder, "out")
        tifffile.imwrite(str(picture), numpy.rint(65535 * numpy.clip(pixels, 0, 1)).astype(numpy.uint16))
        command = [
            python,
            "-m",
            "declump.cli",
            "segment",
            str(picture),
            "-o",
            str(out),
            "--format",
            "planes,csv",
            *options,
        ]
        # CellProfiler's own Python must not leak into the other one.
        clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        done = subprocess.run([*command, *options], capture_output=True, text=True, env=clean)
        if done.returncode:
            raise RuntimeError(f"declump: {done.stderr.strip() or done.stdout.strip()}")
        planes = tifffile.imread(str(out / "image" / "label-planes.tif"))
        with (out / "image" / "cells.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        table = {name: [to_number(row[name]) for row in rows] for name in COLUMNS if name != "number"}
        return planes.reshape(-1, *pixels.shape[:2]).astype(int), table
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def to_number(text):
    """Read a number of a table; NaN where it is missing."""
    return float(text) if text else float("nan")


def renumber(plane):
    """Number the objects of a plane from 1 without gaps, as CellProfiler wants them; give their numbers, too."""
    numbers, labels = numpy.unique(plane, return_inverse=True)
    labels = labels.reshape(plane.shape)
    if numbers[0] != 0:
        labels = labels + 1
        return labels, numbers
    return labels, numbers[1:]
