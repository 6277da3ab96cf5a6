"""Grey frames in colour, cell by cell: what networks learn of grey cells holds for stained ones.

Every cell gets a hue of cytoplasm of its own, near that of the others of its frame; nuclei, and whatever else is as
dark, take haematoxylin. The density of a pixel stays; where cells overlap their hues are mixed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from declump.datasets import AnnotatedImage
from declump.regions.channels import LUMINANCE
from declump.simulate.stains import DYES

SPREAD = 0.08
"""Standard deviation of the logarithm of a hue, from frame to frame and from cell to cell."""
SHARES = (3.0, 1.6, 0.3)
"""How the three dyes of a stain share the cells of a frame: parameters of a Dirichlet distribution."""
DARK, DARKER = 0.55, 0.12
"""Density at which half of a colour is haematoxylin, and over which that changes."""


def colour_cells(image: AnnotatedImage, rng: np.random.Generator) -> AnnotatedImage:
    """Give a grey annotated image in the colours of a stain drawn at random; one in colour stays as it is."""
    if image.image.ndim == 3:
        return image
    dyes = DYES[str(rng.choice(list(DYES)))]
    tones = _vary(np.array(dyes.cytoplasm), rng)
    nucleus = _vary(np.array(dyes.nucleus), rng)
    slide = rng.dirichlet(SHARES)
    shares = np.array([rng.dirichlet(0.05 + 3 * slide) for _ in range(len(image.cells) + 1)])
    hues = _vary(shares @ tones, rng)
    # Beyond the cells the first hue stands for what lies on the slide.
    colour = np.broadcast_to(hues[0], (*image.image.shape, 3)) * 0.05
    weight = np.full((*image.image.shape, 1), 0.05)
    for cell, hue in zip(image.cells, hues[1:], strict=True):
        colour, weight = colour + cell[..., None] * hue, weight + cell[..., None]
    background = float(np.percentile(image.image, 95))
    density = -np.log(np.clip(image.image / background, 0.02, 1.2))[..., None]
    dark = 1 / (1 + np.exp(-(density - DARK) / DARKER))
    dark = np.maximum(dark, 0.8 * ndimage.gaussian_filter((image.nucleus_labels > 0).astype(float), 1)[..., None])
    colour = (1 - dark) * colour / weight + dark * nucleus
    # The luminance of a pixel stays nearly what it was.
    colour = colour / (colour @ LUMINANCE)[..., None]
    tint = 1 + (np.array(dyes.tint) + rng.normal(0, 2, 3)) / 255
    pixels = background * tint * np.exp(-density * colour)
    return replace(image, image=np.asarray(np.clip(np.rint(pixels), 0, 255), np.uint8))


def _vary(hues: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other hues, near those given, with a mean density of 1."""
    drawn = hues * np.exp(rng.normal(0, SPREAD, hues.shape))
    return np.asarray(drawn / drawn.mean(axis=-1, keepdims=True))
