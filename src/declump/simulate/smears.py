"""The simulated smear and its truth."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from declump.simulate.arrangement import arrange, clump_sizes
from declump.simulate.camera import photograph
from declump.simulate.debris import draw_debris
from declump.simulate.details import draw_polymorphs, sharpen
from declump.simulate.layers import pile
from declump.simulate.shapes import REFERENCE_RADIUS, draw_shape, paste
from declump.simulate.stains import STAINS, Stain, draw_staining
from declump.simulate.textures import draw_textures

_MIN_SIDE = 16
_MIN_RADIUS = 8.0


@dataclass(frozen=True, eq=False)
class Smear:
    """A picture of cells with their exact outlines.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) uint8 array
        The picture, grey or red-green-blue.
    cells : (N, H, W) bool array
        Whole cells, hidden parts included, cut only at the image border. They may overlap.
    nuclei : (N, H, W) bool array
        The nucleus of each cell, in the same order, inside its cell.
    seeds : (N, 2) float array
        Centroids (row, column), in pixels, of the whole nuclei, parts beyond the image border included.
    """

    image: NDArray[np.uint8]
    cells: NDArray[np.bool_]
    nuclei: NDArray[np.bool_]
    seeds: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check that the four arrays describe the same cells of the same image."""
        image, cells, nuclei, seeds = self.image, self.cells, self.nuclei, self.seeds
        if image.dtype != np.uint8 or image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)):
            raise ValueError(f"image is {image.dtype} of shape {image.shape}; give uint8 of shape (H, W) or (H, W, 3).")
        expected = (len(cells), *image.shape[:2])
        for name, masks in (("cells", cells), ("nuclei", nuclei)):
            if masks.dtype != np.bool_ or masks.shape != expected:
                raise ValueError(
                    f"{name} is {masks.dtype} of shape {masks.shape}; give one bool mask per cell, shape {expected}."
                )
        if seeds.shape != (len(cells), 2) or not np.all(np.isfinite(seeds)):
            raise ValueError(
                f"seeds has shape {seeds.shape}; give one finite (row, column) per cell, shape {(len(cells), 2)}."
            )
        for index in range(len(cells)):
            if np.any(nuclei[index] & ~cells[index]):
                raise ValueError(f"nucleus {index} reaches outside its cell; give nuclei that lie inside their cells.")

    @property
    def clump(self) -> NDArray[np.bool_]:
        """(H, W) bool array: where there is any cell."""
        return np.asarray(np.any(self.cells, axis=0))


def smear(
    shape: tuple[int, int] = (512, 512),
    *,
    cells: int = 12,
    overlap: float = 0.4,
    stain: Stain = "pap",
    clumps: int | None = None,
    joined_nuclei: float = 0.0,
    radius: float = REFERENCE_RADIUS,
    variety: float = 1.0,
    texture: float = 1.0,
    edges: float = 1.0,
    folds: float = 1.0,
    debris: float = 1.0,
    illumination: float = 1.0,
    blur: float = 1.0,
    noise: float = 1.0,
    detail: float = 0.0,
    rng: int | np.random.Generator = 0,
) -> Smear:
    """Simulate a cervical smear with exact overlapping truth.

    The truth depends on ``shape``, ``cells``, ``overlap``, ``clumps``, ``joined_nuclei``, ``radius`` and ``rng`` alone:
    the same seed with another stain or other appearance gives another picture of the same cells.

    Parameters
    ----------
    shape : (int, int), optional
        Height and width in pixels, each at least 16.
    cells : int, optional
        Number of cells. Every seed lies in the image; cells near its border are cut by it.
    overlap : float, optional
        Degree of overlap within clumps, from 0 (no two cells share a pixel, as long as the image has room) to 1
        (heavily piled). A cell is slid onto its clump until it shares about 0.9 ``overlap`` of its area, or of its
        neighbour's if that is smaller; nuclei are kept apart where that is possible.
    stain : {"grey", "pap", "he", "pap-violet"}, optional
        ``"grey"``: one channel, like extended-depth-of-field Pap frames; ``"pap"``: Papanicolaou colours, blue-green,
        pink and orange cytoplasm; ``"he"``: haematoxylin and eosin.
    clumps : int, optional
        Number of clumps, from 1 to ``cells``; a single cell counts as one. Default: random, about a third single cells.
    joined_nuclei : float, optional
        Share of the cells, beyond the first of each clump, that are laid so that their nucleus covers part of another,
        from 0 to 1.
    radius : float, optional
        Radius in pixels of a disc with the mean cell area, from 8 to the longer side of the image; nuclei and textures
        scale with it. The default is that of the ISBI 2015 frames.
    variety : float, optional
        Factor on how much slides and cells differ in density, hue and background.
    texture, edges, folds : float, optional
        Factors on cytoplasm and chromatin texture, on outline lines, on creases and folded sides.
    debris, illumination, blur, noise : float, optional
        Factors on bacteria, mucus and leukocytes (never in the truth); on uneven light; on defocus; on sensor noise.
        0 switches each off.
    detail : float, optional
        What shows from near, 0 (none) to 1: pleats and granules of the cytoplasm, chromatin, leukocytes with lobes
        (never in the truth), a picture that the camera sharpened. It shows in cells of 70 pixels in radius or more.
    rng : int or numpy.random.Generator, optional
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    Smear
        The picture and its truth.

    Examples
    --------
    >>> import declump.simulate
    >>> clean = declump.simulate.smear((128, 160), cells=3, stain="grey", debris=0, blur=0, noise=0, rng=7)
    >>> clean.image.shape, clean.cells.shape, clean.seeds.shape
    ((128, 160), (3, 128, 160), (3, 2))
    """
    height, width = _check_shape(shape)
    _check_counts(cells, clumps)
    if stain not in STAINS:
        raise ValueError(f"stain is {stain!r}; choose one of {', '.join(map(repr, STAINS))}.")
    if not 0 <= overlap <= 1:
        raise ValueError(f"overlap is {overlap}; give a degree from 0 (separate cells) to 1 (heavily piled).")
    if not 0 <= joined_nuclei <= 1:
        raise ValueError(f"joined_nuclei is {joined_nuclei}; give a share of the cells, from 0 to 1.")
    if not _MIN_RADIUS <= radius <= max(height, width):
        raise ValueError(f"radius is {radius}; give pixels, from {_MIN_RADIUS:g} to the longer side of {shape}.")
    factors = {
        "variety": variety, "texture": texture, "edges": edges, "folds": folds,
        "debris": debris, "illumination": illumination, "blur": blur, "noise": noise, "detail": detail,
    }  # fmt: skip
    for name, factor in factors.items():
        if not 0 <= factor < np.inf:
            raise ValueError(f"{name} is {factor}; give a finite factor of at least 0, 0 to switch it off, 1 as usual.")

    # One stream per concern, so that an option of one leaves the others' draws as they are.
    entropy = _check_generator(rng).integers(2**63, size=5)
    geometry, colour, surface, dirt, optics = (np.random.default_rng(seed) for seed in entropy)
    near = np.random.default_rng(entropy)

    sizes = clump_sizes(cells, clumps, geometry)
    shapes = [draw_shape(radius, geometry) for _ in range(cells)]
    positions = arrange(shapes, sizes, (height, width), overlap, geometry, joined_nuclei)
    truth = np.zeros((2, cells, height, width), dtype=bool)
    for index, (cell, position) in enumerate(zip(shapes, positions, strict=True)):
        paste(truth[0, index], cell.cell, position)
        paste(truth[1, index], cell.nucleus, position)
    seeds = positions + np.array([cell.seed for cell in shapes]).reshape(-1, 2)

    staining = draw_staining(stain, shapes, np.repeat(np.arange(len(sizes)), sizes), variety, colour, min(detail, 1))
    scale = radius / REFERENCE_RADIUS
    density = pile(
        shapes, positions, (height, width), staining, draw_textures(scale, surface),
        texture=texture, edges=edges, folds=folds, blur=blur, rng=surface,
        detail=detail, scale=scale, detail_rng=near,
    )  # fmt: skip
    dirt_density = draw_debris((height, width), np.any(truth[0], axis=0), seeds, scale, debris, dirt)
    density += staining.debris[:, None, None] * dirt_density
    if detail > 0:
        bodies, lobes = draw_polymorphs((height, width), seeds, scale, near)
        density += np.float32(debris) * staining.debris[:, None, None] * (0.5 * bodies + lobes)
    image = photograph(density, staining.background, illumination=illumination, blur=blur, grain=noise, rng=optics)
    if detail > 0:
        image = sharpen(image, 0.8 * detail)
    return Smear(image[:, :, 0] if stain == "grey" else image, truth[0], truth[1], seeds)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_shape(shape: tuple[int, int]) -> tuple[int, int]:
    sides = shape if isinstance(shape, tuple | list) else ()
    if len(sides) != 2 or not all(_is_whole(side) and side >= _MIN_SIDE for side in sides):
        raise ValueError(f"shape is {shape!r}; give (height, width) in whole pixels, each at least {_MIN_SIDE}.")
    return int(sides[0]), int(sides[1])


def _check_counts(cells: int, clumps: int | None) -> None:
    if not _is_whole(cells) or cells < 0:
        raise ValueError(f"cells is {cells!r}; give a whole number of cells, 0 or more.")
    fewest = min(cells, 1)
    if clumps is not None and not (_is_whole(clumps) and fewest <= clumps <= cells):
        raise ValueError(
            f"clumps is {clumps!r} for {cells} cells; give a whole number from {fewest} to {cells}, or None."
        )


def _check_generator(rng: int | np.random.Generator) -> np.random.Generator:
    if isinstance(rng, np.random.Generator):
        return rng
    if not _is_whole(rng) or rng < 0:
        raise ValueError(f"rng is {rng!r}; give a seed, a whole number of at least 0, or a numpy.random.Generator.")
    return np.random.default_rng(rng)
