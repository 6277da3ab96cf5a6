"""Makes the gallery: pictures of simulated things into docs/pictures, those of other people's data where one says.

    python docs/gallery.py                                          simulated things, docs/gallery.md
    python docs/gallery.py --data ../shared/data --out /tmp/gallery  also yeast, nanoparticles and Kc167

Every picture shows the input, the result and, where there is one, the truth.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import tifffile
from skimage.filters import gaussian, threshold_otsu

import declump
from declump.datasets import objects
from declump.pictures import mosaic, overlay
from declump.records.segmentation import Segmentation
from declump.shapes.round import off_centre_ellipses

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from pages import ROOT, commit, replace_part

PICTURES = ROOT / "docs" / "pictures"
NANOPARTICLES = ("2b9ccd5679", "36de69b2c0", "4cd9e65aae", "59424b060a")


@dataclass(frozen=True)
class Scene:
    """What one picture shows: an input, a result, and the true masks (N, H, W) if they are known."""

    name: str
    caption: str
    image: np.ndarray
    result: Segmentation
    truth: np.ndarray | None = None

    @property
    def picture(self) -> np.ndarray:
        """Input, result and truth side by side."""
        shown = [self.image, overlay(self.result, self.image)]
        if self.truth is not None:
            true = objects.of_objects(self.name, np.zeros(self.truth.shape[1:], np.uint8), self.truth)
            radii = declump.shape_examples(true.cells, true.seeds).radii
            drawn = Segmentation(self.result.shape, true.seeds, radii, np.zeros(len(radii), np.int64))
            shown.append(overlay(drawn, self.image))
        return mosaic(shown)

    @property
    def figures(self) -> str:
        """Row of the table."""
        if self.truth is None:
            return f"| {self.caption} | {len(self.result)} found | no truth | |"
        score = declump.score(self.truth, self.result.masks)
        found = f"{len(self.result)} found, {len(self.truth)} true"
        return f"| {self.caption} | {found} | {score.dice_all:.3f} | {score.dice_overlapping:.3f} |"


def simulated_cells() -> Scene:
    """Cells with their nuclei given."""
    smear = declump.simulate.smear((360, 420), cells=9, clumps=2, overlap=0.4, stain="pap", rng=12)
    result = declump.evolve(smear.clump, smear.seeds)
    return Scene("cells", "simulated cells, nuclei given", smear.image, result, smear.cells)


def simulated_nuclei() -> Scene:
    """Nuclei that lie on each other, from the image by the default network."""
    smear = declump.simulate.smear((220, 300), cells=8, clumps=3, joined_nuclei=0.8, stain="grey", rng=7)
    regions = declump.find_regions(smear.image, cut_nuclei=True)
    result = declump.segment_nuclei(smear.image, regions=regions)
    seen = smear.nuclei.any(axis=(1, 2))
    return Scene("nuclei", "simulated nuclei, from the image", smear.image, result, smear.nuclei[seen])


def simulated_things(name: str, caption: str, apart: float, spread: float, rng: int) -> Scene:
    """Bumpless ellipses in one clump, each next to one before it, found from the mask alone."""
    random = np.random.default_rng(rng)
    shapes, shape = off_centre_ellipses(360), (320, 380)
    placed: list[tuple[np.ndarray, float]] = [(np.array(shape) / 2, 26.0)]
    while len(placed) < 12:
        centre, radius = placed[random.integers(len(placed))]
        size, angle = 26 * np.exp(random.uniform(-spread, spread)), random.uniform(0, 2 * np.pi)
        place = centre + apart * (radius + size) * np.array([np.sin(angle), np.cos(angle)])
        distances = [np.hypot(*(place - other)) / (size + reach) for other, reach in placed]
        if (
            (place > 1.8 * size).all()
            and (place < np.array(shape) - 1.8 * size).all()
            and min(distances) > 0.999 * apart
        ):
            placed.append((place, size))
    masks = []
    for centre, radius in placed:
        radii = np.roll(shapes[random.integers(len(shapes))], random.integers(360))
        masks.append(declump.shapes.contours.to_mask(centre, radii * radius / 64, shape))
    truth = np.array(masks)
    return Scene(name, caption, truth.any(axis=0), declump.split(truth.any(axis=0)), truth)


def yeast(data: Path) -> Scene:
    """Eight cells that an algorithm outlined, told apart again from their union."""
    labels = tifffile.imread(data / "yeast" / "cellstar_brightfield_labels.tif")
    truth = labels == np.unique(labels[labels > 0])[:, None, None]
    image = tifffile.imread(data / "yeast" / "cellstar_brightfield.tif")
    return Scene("yeast", "yeast, union of another program's labels", image, declump.split(labels > 0), truth)


def nanoparticles(data: Path, name: str) -> Scene:
    """Electron microscopy, from the union of the true objects."""
    record = next(image for image in objects.read(data / "nanoparticles") if image.name == name)
    caption = f"nanoparticles {name}, union of the truth"
    return Scene(f"nanoparticles-{name}", caption, record.image, declump.split(record.clump), record.cells)


def kc167(data: Path) -> Scene:
    """Nuclei of Drosophila cells, from a threshold."""
    image = tifffile.imread(data / "kc167" / "fly" / "01_POS002_D.tif")[:500, :500]
    smooth = gaussian(image.astype(float), 1.5)
    return Scene("kc167", "Kc167 DNA, Otsu's threshold", image, declump.split(smooth > threshold_otsu(smooth)))


def main() -> None:
    """Make all pictures and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with yeast, nanoparticles and kc167")
    parser.add_argument("--out", type=Path, help="folder for the pictures of that data; not inside the repository")
    options = parser.parse_args()
    if (options.data is None) != (options.out is None):
        sys.exit("give --data and --out together: pictures of other people's data are not kept in the repository")
    scenes = [
        simulated_cells(),
        simulated_nuclei(),
        simulated_things("things", "ellipses of ratio 1 to 3, similar sizes", 0.85, 0.3, 3),
        simulated_things("hidden", "ellipses of ratio 1 to 3, sizes 1 to 4, close", 0.62, 0.7, 5),
    ]
    for scene in scenes:
        iio.imwrite(PICTURES / f"gallery-{scene.name}.png", scene.picture)
    if options.data is not None and options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        others = [yeast(options.data), kc167(options.data)]
        others += [nanoparticles(options.data, name) for name in NANOPARTICLES]
        for scene in others:
            iio.imwrite(options.out / f"{scene.name}.png", scene.picture)
        scenes += others
    header = "| | objects | Dice, all | Dice, overlapping |\n|---|---|---|---|"
    origin = f"Made by `python docs/gallery.py --data ../shared/data --out FOLDER` at commit {commit()}."
    text = "\n".join([origin, "", header, *(scene.figures for scene in scenes)])
    print(text)
    if options.data is not None:
        replace_part("docs/gallery.md", "gallery", text)


if __name__ == "__main__":
    main()
