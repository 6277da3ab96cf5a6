"""Refinement of a network's class probabilities: a Markov random field on superpixels.

Single pixels err; neighbours that look alike belong together. The image is cut into small patches, and each takes one
class: the one its pixels find likely, unless its neighbours disagree and nothing in the image separates it from them.
A patch is the part of a superpixel that the network calls alike. Superpixels alone lose small nuclei (a nucleus of 100
pixels is three of them); split so, they never start worse than the network.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump_paper.regions.expansion import alpha_expansion

Floats = NDArray[np.float64]

MIN_PROBABILITY = 1e-3
"""Probabilities are taken to be at least this, so that one wrong but certain pixel does not outvote its patch."""
COMPACTNESS = 0.1
"""Weight of a superpixel's roundness against its evenness, for grey values spread over [0, 1]."""
ROUNDS = 3
"""Rounds of SLIC; superpixels of a few pixels across move no further."""


def refine(
    probabilities: ArrayLike, image: ArrayLike, *, smoothness: float = 8.0, superpixel_area: float = 40.0
) -> NDArray[np.uint8]:
    """Classes of pixels from their probabilities, smooth where the image is.

    Parameters
    ----------
    probabilities : (C, H, W) float
        Probability of each class at each pixel, at most 256 classes.
    image : (H, W) or (H, W, 3) array
        The image, in any range of grey values.
    smoothness : float
        Cost of one pixel's side between two classes where the image is even, in units of log-probability; with 0
        every pixel keeps its likeliest class.
    superpixel_area : float
        Mean area of the superpixels in pixels; below 2 every pixel stands alone.

    Returns
    -------
    (H, W) uint8 array
        The class of each pixel.

    Notes
    -----
    A patch's cost of a class is the sum of ``-log p`` over its pixels. Two neighbours of different class cost
    ``smoothness * length * exp(-contrast^2 / (2 sigma^2))``, with the length of their common boundary in pixel sides,
    the contrast of their mean colours, and sigma the mean contrast of neighbours in this image. The sum is minimised
    by :func:`declump_paper.regions.expansion.alpha_expansion`.

    Examples
    --------
    >>> import numpy as np
    >>> foreground = np.full((9, 9), 0.9)
    >>> foreground[4, 4] = 0.3
    >>> labels = refine([1 - foreground, foreground], np.zeros((9, 9)), superpixel_area=1)
    >>> bool((labels == 1).all())
    True
    """
    probabilities, image = np.asarray(probabilities), np.asarray(image)
    _check(probabilities, image, smoothness, superpixel_area)
    values = image.reshape(*image.shape[:2], -1).astype(np.float32)
    patches = _split(superpixels(values, superpixel_area), probabilities.argmax(axis=0), len(probabilities))
    unary = _sums(patches, -np.log(np.maximum(probabilities, MIN_PROBABILITY)))
    edges, lengths = _neighbours(patches)
    colours = _sums(patches, np.moveaxis(values, -1, 0)) / np.bincount(patches.ravel())[:, None]
    weights = smoothness * lengths * _likeness(colours, edges)
    return alpha_expansion(unary, edges, weights).astype(np.uint8)[patches]


def superpixels(values: NDArray[np.float32], area: float) -> NDArray[np.intp]:
    """Connected patches (H, W) of an image (H, W, channels), numbered from 0, of about the given area each."""
    from skimage.segmentation import slic

    height, width = values.shape[:2]
    if area < 2:
        return np.arange(height * width).reshape(height, width)
    count = max(round(height * width / area), 1)
    labels = slic(
        values, count, compactness=COMPACTNESS, max_num_iter=ROUNDS, convert2lab=False, start_label=0, channel_axis=-1
    )
    return np.asarray(labels, np.intp)


def _split(patches: NDArray[np.intp], classes: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Patches (H, W) divided by the classes (H, W) of their pixels, numbered from 0 without gaps."""
    codes = patches * count + classes
    numbers = np.cumsum(np.bincount(codes.ravel()) > 0) - 1
    return np.asarray(numbers[codes], np.intp)


def _sums(patches: NDArray[np.intp], layers: NDArray[np.floating]) -> Floats:
    """Sums (N, L) of layers (L, H, W) over each patch."""
    flat = patches.ravel()
    return np.stack([np.bincount(flat, layer.ravel()) for layer in layers], axis=1)


def _neighbours(patches: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (E, 2) of patches that touch, the smaller number first, and the pixel sides (E,) they share."""
    count = int(patches.max()) + 1
    across = np.concatenate([patches[:, :-1].ravel(), patches[:-1].ravel()])
    beyond = np.concatenate([patches[:, 1:].ravel(), patches[1:].ravel()])
    apart = across != beyond
    across, beyond = across[apart], beyond[apart]
    codes, lengths = np.unique(np.minimum(across, beyond) * count + np.maximum(across, beyond), return_counts=True)
    return np.stack(np.divmod(codes, count), axis=1), lengths


def _likeness(colours: Floats, edges: NDArray[np.int64]) -> Floats:
    """``exp(-contrast^2 / (2 sigma^2))`` of each edge, 1 throughout in an image without contrast."""
    contrasts = np.linalg.norm(colours[edges[:, 0]] - colours[edges[:, 1]], axis=1)
    sigma = contrasts.mean() if contrasts.size else 0.0
    return np.exp(-0.5 * (contrasts / sigma) ** 2) if sigma > 0 else np.ones(len(edges))


def _check(
    probabilities: NDArray[np.number], image: NDArray[np.number], smoothness: float, superpixel_area: float
) -> None:
    if probabilities.ndim != 3 or probabilities.size == 0 or len(probabilities) > 256:
        raise ValueError(
            f"probabilities are a (classes, height, width) array of 1 to 256 classes; given was {probabilities.shape}"
        )
    if image.shape not in (probabilities.shape[1:], (*probabilities.shape[1:], 3)):
        raise ValueError(
            f"the image is (height, width) or (height, width, 3) as its probabilities {probabilities.shape}; "
            f"given was {image.shape}"
        )
    if not (np.isfinite(image).all() and np.isfinite(probabilities).all() and (probabilities >= 0).all()):
        raise ValueError("the image and the probabilities are finite, the latter not negative; some values are not")
    if not (0 <= smoothness < np.inf and 1 <= superpixel_area < np.inf):
        raise ValueError(
            f"smoothness is at least 0 and superpixel_area at least 1; given were {smoothness} and {superpixel_area}"
        )
