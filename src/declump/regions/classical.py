"""Clumps and nuclei without a network: from grey levels and the shape of dark spots.

The light field is flattened; the clump is what a mixture of two Gaussians tells from the bright background; a nucleus
is the best of the dark spots that appear when the image is cut at many levels, judged by size, shape and contrast.
After Phoulady et al. (2017), with sizes relative to the diameter of a nucleus, grey levels relative to the span between
background (1) and darkest nuclei (0), and nuclei looked for in optical density: a nucleus then stands out from thick
cytoplasm nearly as it does from thin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.regions.channels import to_channels
from declump.regions.nuclei import typical_area

DIAMETER = 22.0
"""Diameter of a nucleus in pixels at the scale of the ISBI frames."""
PEAK = 0.2
"""The background is the brightest peak of the histogram that has this share of the highest."""
BLANK = 6.0
"""An image whose darkest place is fewer noise deviations than this below the background is blank."""
BLACK = 0.6
"""Light through the darkest nuclei, in spans between them and the background: 90 of 230 grey levels at ISBI."""
LEVELS = np.linspace(0.12, 1.5, 32)
"""Optical densities at which spots are looked for: from faint cytoplasm to beyond the darkest nuclei (0.98)."""
SMOOTHING = 1 / 14
"""Width, in diameters, of the smoothing that keeps chromatin from fraying an outline."""
OPENING = 1 / 11
"""Radius, in diameters, of what is too thin for a nucleus: folds, bacteria, lines of debris."""
GROWTH = 1 / 22
"""Growth in diameters: drawn outlines lie outside the steepest slope, median 1.1 px (ISBI 2014) and 0.2 (2015)."""
AREAS = (0.35, 3.0)
"""Least and largest area of a spot, relative to a disc of the typical diameter."""
SMALL = 0.4
"""Spots below this share of the image's typical nucleus are leukocytes or debris."""
SOLIDITY = 0.9
"""Least share of its convex hull that a nucleus fills."""
ECCENTRICITY = 0.92
"""Largest eccentricity of a nucleus: axes of 1 to 2.5."""
CONTRAST = 0.08
"""Least difference in density between a nucleus and the ring round it: about 15 of 255 grey levels."""
NEAR, FAR = 0.25, 0.5
"""Widths, in diameters, of the ring of the contrast and of the ring that must be cytoplasm."""
SURROUNDED = 0.9
"""Least share of the far ring inside the clump; leukocytes beside a cell have less."""
CELL = 5.0
"""Least area of a clump, in nuclei."""
BARE = 3.0
"""A clump of less than this many times the area of its nuclei is a pile of leukocytes."""


@dataclass(frozen=True, eq=False)
class _Spot:
    """A candidate: how sharp its outline is, and its pixels (rows, columns)."""

    score: float
    pixels: tuple[NDArray[np.intp], NDArray[np.intp]]


def find_classical_regions(
    image: ArrayLike, *, diameter: float | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Find clumps and nuclei in a bright-field image without a network.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4) array
        Grey or red-green-blue, integers or finite floats of any range; alpha is ignored. Dark-field images, whose
        background is darker than the cells, are recognised and inverted.
    diameter : float, optional
        Typical diameter of a nucleus in pixels, at least 3. The default suits about 15 to 35 pixels; give it for
        images of another scale.

    Returns
    -------
    clump : (H, W) bool array
        Where there are cells. Regions without a nucleus are left out; a blank image has none.
    nuclei : (H, W) int32 array
        Labels from 1, the sharpest outline first; 0 elsewhere. Nuclei lie inside the clump.

    Raises
    ------
    ValueError
        If the image has another shape or holds NaN or infinity, or the diameter is below 3.

    References
    ----------
    H. A. Phoulady et al., "A framework for nucleus and overlapping cytoplasm segmentation in cervical cytology extended
    depth of field and volume images", Computerized Medical Imaging and Graphics 59, 2017.

    Examples
    --------
    >>> from declump.simulate import smear
    >>> made = smear((160, 160), cells=1, stain="grey", debris=0, rng=3)
    >>> clump, nuclei = find_classical_regions(made.image)
    >>> int(nuclei.max())
    1
    """
    return separate_by_thresholds(to_channels(image)[0], diameter=diameter)


def separate_by_thresholds(
    luminance: NDArray[np.float32], *, diameter: float | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Find clumps and nuclei in the luminance (H, W) of an image with a bright background.

    See :func:`find_classical_regions`.
    """
    size = DIAMETER if diameter is None else float(diameter)
    if not 3 <= size < np.inf:
        raise ValueError(f"diameter is {diameter}; give the typical diameter of a nucleus in pixels, at least 3.")
    flat = _flattened(_spread(luminance), size)
    if flat is None:
        return np.zeros(luminance.shape, np.bool_), np.zeros(luminance.shape, np.int32)
    clump = _clump(flat, size)
    return _inhabited(clump, _nuclei(flat, clump, size))


def _spread(luminance: NDArray[np.float32]) -> NDArray[np.float64]:
    """Grey values (H, W), scaled so that all but the extreme pixels lie between 0 and 1."""
    grey = luminance.astype(np.float64)
    low, high = np.percentile(grey, (0.05, 99.95))
    # A span that is only rounding of the weighted sum is none.
    if high - low <= 1e-6 * max(abs(low), abs(high)):
        return np.zeros(grey.shape)
    return np.asarray(np.clip((grey - low) / (high - low), 0, 1))


def _flattened(grey: NDArray[np.float64], size: float) -> NDArray[np.float64] | None:
    """Grey values with the background at 1 everywhere and the darkest nuclei at 0; None for a blank image.

    The background is a quadratic surface through the pixels near the bright mode, which are chosen again after each
    fit, so that the choice follows the light to the corners.
    """
    from scipy.ndimage import gaussian_filter

    smooth = gaussian_filter(grey, size / 4)
    step = max(1, round(size / 4))
    coarse = smooth[::step, ::step]
    mode = _bright_mode(coarse)
    terms = _quadratic_terms(grey.shape)
    coarse_terms = terms[::step, ::step]
    background = np.full(coarse.shape, mode)
    surface = np.full(grey.shape, mode)
    for _ in range(6):
        noise = _spread_above(coarse - background)
        chosen = np.abs(coarse - background) <= 3 * noise
        if chosen.sum() < 4 * terms.shape[2]:
            break
        weights = np.linalg.lstsq(coarse_terms[chosen], coarse[chosen], rcond=None)[0]
        background, surface = coarse_terms @ weights, terms @ weights
    span = float(np.percentile(surface - smooth, 99.95))
    if span < BLANK * _spread_above(coarse - background):
        return None
    return np.asarray((grey - surface) / span + 1)


def _bright_mode(values: NDArray[np.float64]) -> float:
    from scipy.ndimage import gaussian_filter1d

    counts, edges = np.histogram(values, bins=256)
    smooth = np.pad(gaussian_filter1d(counts.astype(np.float64), 2, mode="constant"), 1)
    middle = smooth[1:-1]
    peaks = (middle >= smooth[:-2]) & (middle >= smooth[2:]) & (middle > PEAK * middle.max())
    last = np.flatnonzero(peaks)[-1]
    return float(edges[last] + edges[last + 1]) / 2


def _spread_above(residuals: NDArray[np.float64]) -> float:
    """Standard deviation of the background, from its bright side alone: cells are on the dark one."""
    above = residuals[residuals > 0]
    return max(1.4826 * float(np.median(above)) if above.size else 0.0, 1e-3)


def _quadratic_terms(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The six terms (H, W, 6) of a quadratic surface."""
    row, column = np.meshgrid(*(np.arange(length) / length - 0.5 for length in shape), indexing="ij")
    return np.stack([np.ones(shape), row, column, row * row, row * column, column * column], axis=2)


def _clump(flat: NDArray[np.float64], size: float) -> NDArray[np.bool_]:
    """What is darker than the background, without threads, pinholes and specks."""
    from scipy import ndimage
    from skimage.morphology import disk

    smooth = ndimage.gaussian_filter(flat, size / 16)
    dark = ndimage.binary_opening(smooth < _mixture_threshold(smooth), disk(max(1, round(size / 8))))
    nucleus = np.pi / 4 * size**2
    gaps, _ = ndimage.label(~dark)
    pinholes = np.bincount(gaps.ravel()) < nucleus
    pinholes[0] = True  # label 0 is the cells themselves
    parts, _ = ndimage.label(pinholes[gaps])
    large = np.bincount(parts.ravel()) >= CELL * nucleus
    large[0] = False
    return np.asarray(large[parts])


def _mixture_threshold(values: NDArray[np.float64]) -> float:
    """Where a pixel is as likely of the background as of the rest: two Gaussians, fitted to the histogram by EM."""
    counts, edges = np.histogram(values, bins=512, range=(-0.3, 1.3))
    x = (edges[1:] + edges[:-1])[:, None] / 2
    means, shares = np.array([1.0, 0.5]), np.array([0.7, 0.3])
    deviations = np.array([_spread_above(values - 1), 0.25])
    for _ in range(100):
        likely = shares / deviations * np.exp(-(((x - means) / deviations) ** 2) / 2) + 1e-12
        members = likely / likely.sum(axis=1, keepdims=True) * counts[:, None]
        total = members.sum(axis=0) + 1e-9
        shares, means = total / total.sum(), (members * x).sum(axis=0) / total
        # Not narrower than a bin.
        deviations = np.sqrt((members * (x - means) ** 2).sum(axis=0) / total) + 2e-3
    darker = (x[:, 0] < means[0]) & (likely[:, 1] > likely[:, 0])
    return float(x[darker, 0].max() if darker.any() else means[0] - 3 * deviations[0])


def _nuclei(flat: NDArray[np.float64], clump: NDArray[np.bool_], size: float) -> NDArray[np.int32]:
    """Labels of the best spots: sharpest outline first, each only where no better one lies."""
    from scipy import ndimage
    from skimage.morphology import disk
    from skimage.segmentation import expand_labels

    density = -np.log(np.maximum(flat + BLACK, 0.05) / (1 + BLACK))
    slope = ndimage.gaussian_gradient_magnitude(density, SMOOTHING * size)
    smooth = ndimage.gaussian_filter(density, SMOOTHING * size)
    # A grey opening is the opening of every level at once.
    smooth = ndimage.grey_opening(smooth, footprint=disk(max(1, round(OPENING * size))))
    least, largest = np.pi / 4 * size**2 * np.array(AREAS)
    spots: list[_Spot | None] = []
    for level in LEVELS:
        labels, _ = ndimage.label((smooth > level) & clump)
        areas = np.bincount(labels.ravel())[1:]
        boxes = ndimage.find_objects(labels)
        fitting = np.flatnonzero((areas >= least) & (areas <= largest))
        spots += [_spot(labels, index + 1, boxes[index], smooth, slope, clump, size) for index in fitting.tolist()]
    nuclei = np.zeros(flat.shape, np.int32)
    chosen: list[_Spot] = []
    for spot in sorted((spot for spot in spots if spot is not None), key=lambda spot: -spot.score):
        if not nuclei[spot.pixels].any():
            chosen.append(spot)
            nuclei[spot.pixels] = len(chosen)
    areas = np.array([spot.pixels[0].size for spot in chosen])
    nuclei[np.append(False, areas < SMALL * typical_area(areas))[nuclei]] = 0
    return np.asarray(np.where(clump, expand_labels(nuclei, GROWTH * size), 0), dtype=np.int32)


def _spot(
    labels: NDArray[np.int32],
    index: int,
    box: tuple[slice, slice],
    density: NDArray[np.float64],
    slope: NDArray[np.float64],
    clump: NDArray[np.bool_],
    size: float,
) -> _Spot | None:
    """Judge one dark spot; None if it cannot be a nucleus."""
    from scipy import ndimage
    from scipy.spatial import ConvexHull

    margin = int(np.ceil(FAR * size))
    window = tuple(slice(max(side.start - margin, 0), side.stop + margin) for side in box)
    mask = ndimage.binary_fill_holes(labels[window] == index)
    rows, columns = np.nonzero(mask)
    # A pixel is a square: 1/12 is its own second moment, and its corners belong to the hull.
    minor, major = np.linalg.eigvalsh(np.cov(rows, columns, bias=True) + np.eye(2) / 12)
    if minor < (1 - ECCENTRICITY**2) * major:
        return None
    rim = mask & ~ndimage.binary_erosion(mask)
    corners: Any = np.argwhere(rim)[:, None] + np.array([(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)])
    solidity = rows.size / ConvexHull(corners.reshape(-1, 2)).volume
    if solidity < SOLIDITY:
        return None
    away = ndimage.distance_transform_edt(~mask)
    near, far = ((away > 0) & (away <= width * size) for width in (NEAR, FAR))
    contrast = density[window][mask].mean() - np.median(density[window][near])
    if contrast < CONTRAST or clump[window][far].mean() < SURROUNDED:
        return None
    score = float(slope[window][rim].mean() * solidity)
    return _Spot(score, (rows + window[0].start, columns + window[1].start))


def _inhabited(clump: NDArray[np.bool_], nuclei: NDArray[np.int32]) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Keep the parts of the clump with nuclei and enough cytoplasm round them, and number their nuclei anew."""
    from scipy import ndimage

    parts, _ = ndimage.label(clump)
    areas = np.bincount(parts.ravel())
    nuclear = np.bincount(parts.ravel(), weights=(nuclei > 0).ravel())
    kept = (nuclear > 0) & (areas >= BARE * nuclear)
    kept[0] = False
    clump = np.asarray(kept[parts])
    names, numbers = np.unique(np.where(clump, nuclei, 0), return_inverse=True)
    return clump, np.asarray(numbers.reshape(clump.shape) + (names[0] > 0), dtype=np.int32)
