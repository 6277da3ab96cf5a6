"""Draws the pictures of README and docs into docs/pictures.

python docs/figures.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import imageio.v3 as iio
import numpy as np

import declump
from declump.evolution.evolve import estimate_scale
from declump.evolution.settings import SETTINGS
from declump.evolution.trust_region import evolve_clump
from declump.pictures import mosaic, overlay
from declump.records.clump import split_clumps
from declump.records.segmentation import Segmentation

PICTURES = Path(__file__).parent / "pictures"


def truth(smear: declump.simulate.Smear) -> Segmentation:
    """Outlines of the true cells."""
    examples = declump.shape_examples(smear.cells, smear.seeds)
    return Segmentation(smear.clump.shape, smear.seeds, examples.radii, np.zeros(len(smear.seeds), dtype=np.int64))


def demo() -> np.ndarray:
    """A smear, its outlines found from clump and nuclei, and the true ones."""
    smear = declump.simulate.smear((420, 420), cells=8, clumps=2, overlap=0.4, stain="pap", rng=46)
    result = declump.evolve(smear.clump, smear.seeds)
    return mosaic([smear.image, overlay(result, smear.image), overlay(truth(smear), smear.image)])


def evolution() -> np.ndarray:
    """One clump from its aligned start to its end, beside the truth."""
    smear = declump.simulate.smear((300, 300), cells=5, clumps=1, overlap=0.4, stain="pap", rng=10)
    prior = replace(declump.ShapePrior.load("default"), reach=None)
    clumps = split_clumps(smear.clump, smear.seeds)
    clump = max(clumps, key=lambda candidate: candidate.cells.size)
    steps: list[np.ndarray] = []
    evolve_clump(
        clump, prior, SETTINGS["joint"], scale=estimate_scale(clumps, prior), on_step=lambda radii: steps.append(radii)
    )
    seeds = (clump.seeds + clump.origin).astype(float)
    owner = np.zeros(len(seeds), dtype=np.int64)
    shown = [steps[index] for index in (0, 2, 4, len(steps) // 2, len(steps) - 1)]
    pictures = [overlay(Segmentation(smear.clump.shape, seeds, radii, owner), smear.clump) for radii in shown]
    return mosaic([*pictures, overlay(truth(smear), smear.image)], columns=3)


def sample() -> np.ndarray:
    """The sample smear in three stains, one piece of each side by side."""
    pieces = [declump.data.smear(stain).image[200:712, 512:1024] for stain in ("pap", "he", "grey")]
    return mosaic([np.stack([piece] * 3, axis=2) if piece.ndim == 2 else piece for piece in pieces])


def pap() -> np.ndarray:
    """A part of a real frame, and the outlines that declump finds in it when it sees the whole."""
    image = declump.data.pap()
    return mosaic([picture[350:1010, 540:1200] for picture in (image, overlay(declump.segment(image), image))])


def main() -> None:
    """Draw all pictures."""
    PICTURES.mkdir(exist_ok=True)
    for draw in (demo, evolution):
        iio.imwrite(PICTURES / f"{draw.__name__}.png", draw())
    for draw in (sample, pap):
        iio.imwrite(PICTURES / f"{draw.__name__}.jpg", draw(), quality=88)


if __name__ == "__main__":
    main()
