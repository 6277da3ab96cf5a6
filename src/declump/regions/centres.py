"""Seeds by regression: the peaks of what a network says of the nearness to the centre of a nucleus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.regions.channels import ImageChannels
from declump.regions.inference import open_region_model
from declump.regions.lattice import Lattice
from declump.regions.nuclei import RULES, SMOOTHING, find_peaks
from declump.seeds.distance import middles


def find_centres(
    image: NDArray[Any], mask: NDArray[np.bool_], model: str | Path, *, diameter: float | None = None
) -> NDArray[np.float64]:
    """Find the centres that a region network sees inside a mask.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    mask : (H, W) bool
        Outside it, and across its gaps, no peak counts.
    model : str or Path
        ``"default"``, or an ONNX file of ``declump train regions``.
    diameter : float, optional
        Usual diameter in pixels of what the network was trained to find; by default as in its training images.

    Returns
    -------
    (N, 2) float64
        Row and column of the middle of each peak, inside the mask; none where the network sees no centre.
    """
    network = open_region_model(model)
    size = network.nucleus_diameter if diameter is None else diameter
    lattice = Lattice.from_scale(network.nucleus_diameter / size, network.stride)
    maps = lattice.see(ImageChannels(image).channels, network)
    centre_map = np.where(mask, ndimage.gaussian_filter(maps.centre_map, SMOOTHING * size), 0).astype(np.float32)
    labels, _ = ndimage.label(find_peaks(centre_map, RULES) & mask, np.ones((3, 3)))
    return middles(np.asarray(labels, np.int32), centre_map.astype(np.float64))
