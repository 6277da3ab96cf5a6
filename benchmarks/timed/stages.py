"""Time and memory of the stages of an image, and of all of them together."""

from __future__ import annotations

import tempfile
from pathlib import Path

import declump


class Evolution:
    """Mask and seeds in, outlines out, by the number of cells of the clump."""

    params = (3, 10, 30, 100)
    param_names = ("cells",)

    def setup(self, cells: int) -> None:
        """Draw the clump, and compile."""
        side = int(130 * cells**0.5) + 60
        self.smear = declump.simulate.smear((side, side), cells=cells, clumps=1, overlap=0.5, rng=1)
        self.time_evolve(cells)

    def time_evolve(self, cells: int) -> None:
        """Evolve."""
        declump.evolve(self.smear.clump, self.smear.seeds)


class Image:
    """A whole image by its stages."""

    def setup(self) -> None:
        """Draw the image, run everything once."""
        self.smear = declump.simulate.smear((512, 512), cells=12, overlap=0.4, stain="grey", rng=28)
        self.regions = declump.find_regions(self.smear.image)
        self.result = declump.segment(self.smear.image, regions=self.regions)
        self.time_measure()

    def time_find_regions(self) -> None:
        """Clumps and nuclei."""
        declump.find_regions(self.smear.image)

    def time_segment_given_regions(self) -> None:
        """Outlines, with what the ray network sees."""
        declump.segment(self.smear.image, regions=self.regions)

    def time_segment(self) -> None:
        """Everything."""
        declump.segment(self.smear.image)

    def peakmem_segment(self) -> None:
        """Memory of everything."""
        declump.segment(self.smear.image)

    def time_measure(self) -> None:
        """All columns of the table."""
        declump.measure(self.result, self.smear.image)

    def time_write(self) -> None:
        """Three formats."""
        with tempfile.TemporaryDirectory() as folder:
            declump.io.write_results(self.result, Path(folder) / "out", formats=("coco", "geojson", "csv"))

    def time_score(self) -> None:
        """All figures against the truth."""
        declump.score(self.smear.cells, self.result.masks)


class Import:
    """The first thing that a user waits for."""

    def timeraw_import(self) -> str:
        """Import the package."""
        return "import declump"
