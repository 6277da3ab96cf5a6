"""What a whole image says of its cells, by the kinds of evidence asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from declump.evidence.proposals import propose_rays
from declump.records.evidence import Evidence
from declump.records.regions import Regions

KINDS = ("clump", "rays", "layers", "rays+layers")


def collect_evidence(
    image: ArrayLike, regions: Regions, kind: str, *, model: str | Path = "default", diameter: float | None = None
) -> Evidence | None:
    """Gather evidence of the cells of an image.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    regions : Regions
    kind : str
        ``"clump"``: none beside the clump; ``"rays"``: proposals of whole outlines; ``"layers"``: the number of cells
        at each pixel that the regions know; ``"rays+layers"``.
    model : str or Path
        Ray model, see :func:`declump.evidence.proposals.propose_rays`.
    diameter : float, optional
        Usual diameter of a nucleus in pixels.

    Raises
    ------
    ValueError
        For another kind, or layers that are not known.
    """
    if kind not in KINDS:
        raise ValueError(f"the evidence is {', '.join(map(repr, KINDS))}, or an Evidence; given was {kind!r}")
    if "layers" in kind and regions.layers is None:
        raise ValueError("these regions know no layers: use evidence='rays', or regions that a network found")
    found = propose_rays(image, regions, model=model, diameter=diameter) if "rays" in kind else Evidence()
    if "layers" in kind:
        layers, std = np.asarray(regions.layers, np.float64), np.asarray(regions.layers_std, np.float64)
        return Evidence(found.radii, found.radii_std, layers, std)
    return found if "rays" in kind else None
