"""What an earlier chain says of frames of which only points are known: weak truth for masks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file
from declump.models import Model
from declump.regions.channels import ImageChannels
from declump.regions.find import get_regions
from declump.regions.lattice import maps_at_found_scale
from declump.regions.options import RegionOptions


class WeakTruth:
    """A region model that is asked about frames; its answers are kept in a folder.

    Parameters
    ----------
    model : Model
    cache : Path
        One file a frame; of another model, another folder.
    """

    def __init__(self, model: Model, cache: Path) -> None:
        self.model, self.cache = model, cache

    def ask(self, name: str, image: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Classes (3, H, W) uint8, spots (H, W) and the probability of each to be a nucleus."""
        path = self.cache / f"{name}.npz"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(path) as draft, draft.open("wb") as file:
                np.savez_compressed(file, **self._ask(image))  # type: ignore[arg-type]  # numpy names them one by one
        with np.load(path) as kept:
            return {key: kept[key] for key in ("classes", "spots", "probability")}

    def _ask(self, image: NDArray[Any]) -> dict[str, NDArray[Any]]:
        seen = ImageChannels(image)
        options = RegionOptions(self.model.path, cut_nuclei=True)
        _, maps = maps_at_found_scale(seen.channels, self.model)
        found = get_regions(seen, options)
        assert found.candidates is not None
        assert found.nucleus_probability is not None and found.candidate_probability is not None
        candidates = np.where(found.candidates > 0, found.candidates + len(found.seeds), 0)
        return {
            "classes": np.rint(maps.classes * 255).astype(np.uint8),
            "spots": np.where(found.nuclei > 0, found.nuclei, candidates).astype(np.int32),
            "probability": np.concatenate([found.nucleus_probability, found.candidate_probability]),
        }
