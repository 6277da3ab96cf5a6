"""What the judge learns from: the spots of images whose nuclei are marked, each told to be a nucleus or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from declump._files import atomic_file
from declump.datasets.marked import MarkedNuclei
from declump.models import Model
from declump.records.regions import seeds_from_labels
from declump.regions.channels import to_channels
from declump.regions.judge import SpotPlanes
from declump.regions.lattice import maps_at_found_scale
from declump.regions.spots import find_spots

LEVELS = 200
"""Planes are kept in whole steps of this fraction of 1, in bytes."""
SHARED = 0.3
"""A spot is a nucleus if it and a drawn one share this much of either."""
MOSTLY = 0.5
"""Share of a spot that lies where nuclei may not be marked, above which it teaches nothing."""
REACH = (1.2, 4.0)
"""A spot is the nucleus of a point within so many of its radii, or pixels."""


@dataclass(frozen=True, eq=False)
class JudgeExample:
    """One image with its spots.

    Attributes
    ----------
    name : str
    planes : (5, H, W) uint8
        See :class:`declump.regions.judge.SpotPlanes`, in ``LEVELS``.
    spots : (H, W) int32
    places : (S, 2)
        Row and column of each spot.
    nucleus : (S,) bool
        Whether each is the nucleus of a cell.
    marked : int
        Nuclei that are marked in the image, found or not.
    step : float
        Pixels of the image that the judge sees as one: by this much its nuclei are larger than usual.
    """

    name: str
    planes: NDArray[np.uint8]
    spots: NDArray[np.int32]
    places: NDArray[np.float64]
    nucleus: NDArray[np.bool_]
    marked: int
    step: float = 1.0

    def around(self) -> SpotPlanes:
        """Give the planes as the judge sees them."""
        return SpotPlanes(self.planes, self.spots, 1 / LEVELS)

    def save(self, path: Path) -> None:
        """Write the example as plain arrays."""
        with atomic_file(path) as draft, draft.open("wb") as file:
            np.savez(
                file,
                allow_pickle=False,
                planes=self.planes,
                spots=self.spots,
                places=self.places,
                nucleus=self.nucleus,
                marked=np.array(self.marked),
                step=np.array(self.step),
            )

    @classmethod
    def load(cls, path: Path, name: str) -> JudgeExample:
        """Read what :meth:`save` wrote."""
        with np.load(path, allow_pickle=False) as kept:
            marked, step = int(kept["marked"]), float(kept["step"])
            return cls(name, kept["planes"], kept["spots"], kept["places"], kept["nucleus"], marked, step)


def make_example(image: MarkedNuclei, model: Model) -> JudgeExample:
    """Find the spots of an image with a region model, at the scale that :func:`declump.segment` would take."""
    channels = to_channels(image.image)
    scale, maps = maps_at_found_scale(channels, model)
    spots = find_spots(
        maps.classes[2], maps.centre_map, channels[0], model.nucleus_diameter / scale, clump=maps.classes[0] < 0.5
    )
    if image.unknown is not None:
        spots = leave_unknown(spots, tell_nuclei(spots, image), image.unknown)
    planes = np.stack(list(SpotPlanes.from_maps(channels[0], maps, spots).planes))
    levels = np.clip(np.rint(planes * LEVELS), 0, 255).astype(np.uint8)
    places, nucleus = seeds_from_labels(spots), tell_nuclei(spots, image)
    return JudgeExample(image.name, levels, spots, places, nucleus, len(image.points), 1 / scale)


def leave_unknown(
    spots: NDArray[np.int32], nucleus: NDArray[np.bool_], unknown: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Leave out spots that are no marked nuclei and lie for the most part where nuclei may not be marked."""
    count = len(nucleus) + 1
    share = np.bincount(spots[unknown], minlength=count) / np.maximum(np.bincount(spots.ravel(), minlength=count), 1)
    kept = np.append(False, nucleus | (share[1:] <= MOSTLY))
    return np.asarray((np.cumsum(kept) * kept)[spots], np.int32)


def tell_nuclei(spots: NDArray[np.int32], image: MarkedNuclei) -> NDArray[np.bool_]:
    """Tell which spots (S,) are marked nuclei, one to one."""
    areas = np.bincount(spots.ravel())[1:]
    nucleus = np.zeros(areas.size, np.bool_)
    if image.labels is not None:
        size = (len(image.points) + 1, areas.size + 1)
        shared = np.bincount((image.labels.astype(np.int64) * size[1] + spots).ravel(), minlength=size[0] * size[1])
        shared = shared.reshape(size)
        own = np.maximum(np.bincount(image.labels.ravel(), minlength=size[0]), 1)[1:, None]
        gain = shared[1:, 1:] / np.minimum(own, np.maximum(areas, 1)) * (shared[1:, 1:] > SHARED * own)
        fitting = gain > SHARED
    else:
        offsets = image.points[:, None] - seeds_from_labels(spots)[None]
        distances = np.hypot(offsets[..., 0], offsets[..., 1])
        reach = np.maximum(REACH[0] * np.sqrt(areas / np.pi), REACH[1])
        fitting = distances <= reach
        gain = np.where(fitting, 2 - distances / reach, 0)
    which, found = linear_sum_assignment(gain, maximize=True)
    nucleus[found[fitting[which, found]]] = True
    return nucleus
