"""Optical density of cells: the cytoplasm and the nucleus of each, and all of them piled up."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from declump.simulate.details import draw_chromatin, draw_granules, draw_pleats
from declump.simulate.shapes import CellFold, CellShape, Floats, paste
from declump.simulate.stains import Staining
from declump.simulate.textures import Textures, piece

_NUCLEAR_SATURATION = 2.0


def pile(
    shapes: Sequence[CellShape],
    positions: NDArray[np.intp],
    shape: tuple[int, int],
    staining: Staining,
    textures: Textures,
    *,
    texture: float,
    edges: float,
    folds: float,
    blur: float,
    rng: np.random.Generator,
    detail: float = 0.0,
    scale: float = 1.0,
    detail_rng: np.random.Generator | None = None,
) -> Floats:
    """Density (C, H, W) of all cells on top of one another: layers of cytoplasm add and saturate, nuclei show through.

    ``blur`` scales the defocus of each cell, cells of a clump lying at different heights; ``detail`` pleats, granules
    and chromatin, which are drawn by a generator of their own.
    """
    from scipy import ndimage

    channels = len(staining.background)
    plasma, chromatin = np.zeros((2, channels, *shape), dtype=np.float32)
    for cell, position, colour, dark in zip(shapes, positions, staining.cytoplasm, staining.nuclei, strict=True):
        body = cytoplasm(cell, textures, texture=texture, edges=edges, folds=folds, rng=rng)
        core = nucleus(cell, textures, texture=texture, rng=rng)
        if detail > 0 and detail_rng is not None:
            body = _add_details(body, cell, scale, detail, detail_rng)
            core = core * np.maximum(1.15 + np.float32(detail) * draw_chromatin(cell, scale, detail_rng), 0.3)
        defocus = blur * min(rng.exponential(0.35), 2.0)
        if defocus > 0.2:
            body, core = (ndimage.gaussian_filter(layer, defocus) for layer in (body, core))
        blend = _smoothstep(0.5 + 0.5 * piece(textures.cloud, 2 * cell.half + 1, rng))
        for channel in range(channels):
            paste(plasma[channel], (colour[0, channel] * blend + colour[1, channel] * (1 - blend)) * body, position)
            paste(chromatin[channel], dark[channel] * core, position)
    return _saturate(plasma, staining.saturation) + _saturate(chromatin, _NUCLEAR_SATURATION)


def _add_details(body: Floats, cell: CellShape, scale: float, detail: float, rng: np.random.Generator) -> Floats:
    """Add pleats and granules to a cytoplasm, within its outline; pleats spare small round cells."""
    extra = draw_granules(cell, scale, rng)
    if not cell.parabasal:
        extra = extra + draw_pleats(cell, scale, rng)
    inside = np.minimum(body, 1)
    return np.asarray(np.maximum(body + np.float32(detail) * extra * inside, 0), dtype=np.float32)


def cytoplasm(
    cell: CellShape, textures: Textures, *, texture: float, edges: float, folds: float, rng: np.random.Generator
) -> Floats:
    """Density of the cytoplasm relative to the stain's strength, about 1 in the flat part of a cell.

    Thick around the nucleus, thin at the rim; with uneven thickness and fibres (``texture``), an outline that comes and
    goes (``edges``), and creases and a folded side (``folds``).
    """
    side = 2 * cell.half + 1
    centre_excess, rim_loss = rng.uniform(0, 0.7), rng.uniform(0.15, 0.7)
    rim_width = rng.uniform(0.05, 0.2) * cell.radius
    inside = np.maximum(cell.depth, 0)
    body = 0.9 + centre_excess * np.exp(-((cell.distance / (0.55 * cell.radius)) ** 2))
    body -= rim_loss * np.exp(-inside / rim_width)
    if rng.random() < 0.25:
        clearing = np.minimum(cell.nucleus_depth, 0) / rng.uniform(4, 9)
        body -= rng.uniform(0.1, 0.4) * np.exp(-(clearing**2))

    tilt, slope = rng.uniform(-np.pi, np.pi), rng.uniform(0, 0.3)
    body *= 1 + slope * np.cos(cell.angle - tilt) * np.minimum(cell.distance / cell.radius, 1)
    unevenness = rng.uniform(0.12, 0.38)
    # Some cells are crumpled: creased all over, and denser for it.
    crumpling = rng.uniform(1.5, 3) if rng.random() < 0.12 else 1.0
    body *= crumpling**0.5
    grain, mottle, fibres = rng.uniform(0.04, 0.1), min(rng.gamma(2, 0.03), 0.14), crumpling**0.5 * rng.gamma(2, 0.08)
    body *= np.exp(texture * unevenness * piece(textures.cloud, side, rng))
    body += texture * (grain * piece(textures.grain, side, rng) + mottle * piece(textures.mottle, side, rng))
    body += texture * fibres * piece(textures.fibres, side, rng)

    line, width, modulation = rng.normal(0.22, 0.25), rng.uniform(1, 1.8), piece(textures.cloud, side, rng)
    body += edges * line * np.exp(-(((cell.depth - 1.5) / width) ** 2)) * np.clip(0.5 + 0.9 * modulation, 0, 1.8)

    body += folds * crumpling * rng.gamma(1.5, 0.25) * piece(textures.creases, side, rng)
    for fold in cell.folds:
        body += folds * _draw_folded_side(cell, fold, textures, rng)

    # The outline is crisp in places and dissolves in others.
    softness = np.clip(2 + 1.2 * piece(textures.cloud, side, rng), 1, 4.5) * rng.uniform(0.8, 1.5)
    coverage = _smoothstep(cell.depth / softness + 0.5)
    return np.asarray(np.maximum(body, 0.1) * coverage, dtype=np.float32)


def nucleus(cell: CellShape, textures: Textures, *, texture: float, rng: np.random.Generator) -> Floats:
    """Density of the nucleus relative to the stain's strength: chromatin, wrinkles, a darker membrane, a soft edge."""
    side = 2 * cell.half + 1
    chromatin, wrinkles, membrane = rng.uniform(0.05, 0.2), rng.gamma(1, 0.35), rng.uniform(0, 0.4)
    body = 1 + texture * chromatin * (0.6 * piece(textures.grain, side, rng) + piece(textures.mottle, side, rng))
    body += texture * wrinkles * piece(textures.fibres, side, rng)
    body += membrane * np.exp(-(((cell.nucleus_depth - 1.2) / 1.2) ** 2))
    coverage = _smoothstep(cell.nucleus_depth / rng.uniform(1.2, 2.2) + 0.5)
    return np.asarray(np.maximum(body, 0.2) * coverage, dtype=np.float32)


def _draw_folded_side(cell: CellShape, fold: CellFold, textures: Textures, rng: np.random.Generator) -> Floats:
    """Extra density of the strip of cytoplasm that is turned over, darkest along the turn."""
    strength, decay, wave = rng.uniform(0.4, 1.8), rng.uniform(0.25, 0.8), rng.uniform(0.2, 0.6)
    inward = fold.inward(cell.distance, cell.angle)
    width = fold.width * np.maximum(1 + wave * piece(textures.cloud, 2 * cell.half + 1, rng), 0.1)
    strip = _smoothstep((width - inward) / (0.4 * fold.width) + 0.5)
    return np.asarray(
        strength * strip * (0.4 + 0.6 * np.exp(-np.maximum(inward, 0) / (decay * width))), dtype=np.float32
    )


def _saturate(density: Floats, limit: float) -> Floats:
    """Let the mean density of the channels approach ``limit``; the hue stays."""
    mean = np.maximum(density.mean(axis=0), np.float32(1e-6))
    return np.asarray(density * (limit * -np.expm1(-mean / limit) / mean), dtype=np.float32)


def _smoothstep(x: Floats) -> Floats:
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)
