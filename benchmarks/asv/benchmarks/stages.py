"""Import, evolution, segmentation and writing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace

import declump


def time_import() -> None:
    """A fresh interpreter that imports declump."""
    subprocess.run([sys.executable, "-c", "import declump"], check=True)


class Evolve:
    """One clump, by its number of cells."""

    params = (10, 30, 100)
    param_names = ("cells",)

    def setup(self, cells: int) -> None:
        side = int(120 * cells**0.5) + 200
        self.smear = declump.simulate.smear((side, side), cells=cells, clumps=1, overlap=0.5, stain="grey", rng=1)
        declump.evolve(self.smear.clump, self.smear.seeds)

    def time_evolve(self, cells: int) -> None:
        declump.evolve(self.smear.clump, self.smear.seeds)


class Segment:
    """An image with everything, and its files."""

    def setup(self) -> None:
        self.image = declump.simulate.smear((512, 512), cells=16, stain="pap", rng=2).image
        self.result = declump.segment(self.image)
        self.folder = tempfile.TemporaryDirectory()

    def teardown(self) -> None:
        self.folder.cleanup()

    def time_find_regions(self) -> None:
        declump.find_regions(self.image)

    def time_segment(self) -> None:
        declump.segment(self.image)

    def peakmem_segment(self) -> None:
        declump.segment(self.image)

    def time_write(self) -> None:
        declump.io.write_results(replace(self.result), self.folder.name, image=self.image, overwrite=True)
