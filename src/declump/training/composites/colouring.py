"""Grey frames in colour, cell by cell: what networks learn of grey cells holds for stained ones.

Every cell gets a hue of cytoplasm of its own, near that of the others of its frame; nuclei, and whatever else is as
dark, take haematoxylin. The density of a pixel stays; where cells overlap their hues are mixed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.regions.channels import LUMINANCE
from declump.simulate.stains import DYES

SPREAD = 0.08
"""Standard deviation of the logarithm of a hue, from frame to frame and from cell to cell."""
SHARES = (3.0, 1.6, 0.3)
"""How the three dyes of a stain share the cells of a frame: parameters of a Dirichlet distribution."""
BACKGROUND = 235.0
"""Level of the clear field where an image has not 8 bits."""
DARK, DARKER = 0.55, 0.12
"""Density at which half of a colour is haematoxylin, and over which that changes."""


def colour_cells(image: AnnotatedImage, rng: np.random.Generator) -> AnnotatedImage:
    """Give a grey annotated image in the colours of a stain drawn at random; one in colour stays as it is."""
    if image.image.ndim == 3:
        return image
    return replace(image, image=_colour(image.image, image.cells, image.nucleus_labels > 0, rng))


def colour_marked(image: MarkedNuclei, rng: np.random.Generator) -> MarkedNuclei:
    """Give a grey image with marked nuclei in the colours of a stain drawn at random; one in colour stays as it is.

    Its cells are not drawn: what is nearest to a nucleus takes the hue of its cell.
    """
    if image.image.ndim == 3:
        return image
    apart = np.ones(image.image.shape, np.bool_)
    rows, columns = np.rint(image.points).astype(int).T
    apart[rows, columns] = False
    nearest = np.zeros(apart.shape, np.int64)
    nearest[rows, columns] = np.arange(1, len(image.points) + 1)
    if len(image.points):
        nearest = nearest[tuple(ndimage.distance_transform_edt(apart, return_distances=False, return_indices=True))]
    cells = nearest == np.arange(1, len(image.points) + 1)[:, None, None]
    nuclei = np.zeros(apart.shape, np.bool_) if image.labels is None else image.labels > 0
    return replace(image, image=_colour(image.image, cells, nuclei, rng))


def _colour(
    grey: np.ndarray, cells: NDArray[np.bool_], nuclei: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.uint8]:
    dyes = DYES[str(rng.choice(list(DYES)))]
    tones = _vary(np.array(dyes.cytoplasm), rng)
    nucleus = _vary(np.array(dyes.nucleus), rng)
    slide = rng.dirichlet(SHARES)
    shares = np.array([rng.dirichlet(0.05 + 3 * slide) for _ in range(len(cells) + 1)])
    hues = _vary(shares @ tones, rng)
    # Beyond the cells the first hue stands for what lies on the slide.
    colour = np.broadcast_to(hues[0], (*grey.shape, 3)) * 0.05
    weight = np.full((*grey.shape, 1), 0.05)
    for cell, hue in zip(cells, hues[1:], strict=True):
        colour, weight = colour + cell[..., None] * hue, weight + cell[..., None]
    background = max(float(np.percentile(grey, 95)), 1e-6)
    density = -np.log(np.clip(grey / background, 0.02, 1.2))[..., None]
    dark = 1 / (1 + np.exp(-(density - DARK) / DARKER))
    dark = np.maximum(dark, 0.8 * ndimage.gaussian_filter(nuclei.astype(float), 1)[..., None])
    colour = (1 - dark) * colour / weight + dark * nucleus
    # The luminance of a pixel stays nearly what it was.
    colour = colour / (colour @ LUMINANCE)[..., None]
    tint = 1 + (np.array(dyes.tint) + rng.normal(0, 2, 3)) / 255
    level = background if grey.dtype == np.uint8 else BACKGROUND
    pixels = level * tint * np.exp(-density * colour)
    return np.asarray(np.clip(np.rint(pixels), 0, 255), np.uint8)


def _vary(hues: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other hues, near those given, with a mean density of 1."""
    drawn = hues * np.exp(rng.normal(0, SPREAD, hues.shape))
    return np.asarray(drawn / drawn.mean(axis=-1, keepdims=True))
