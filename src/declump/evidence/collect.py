"""What a whole image says of its cells, by the kinds of evidence asked for."""

from __future__ import annotations

import numpy as np

from declump.evidence.proposals import RayProposer
from declump.records.evidence import Evidence
from declump.records.regions import Regions

KINDS = ("clump", "rays", "layers", "rays+layers")


def collect_evidence(regions: Regions, kind: str, proposer: RayProposer) -> Evidence | None:
    """Gather evidence of the cells of an image.

    Parameters
    ----------
    regions : Regions
    kind : str
        ``"clump"``: none beside the clump; ``"rays"``: proposals of whole outlines; ``"layers"``: the number of cells
        at each pixel that the regions know; ``"rays+layers"``.
    proposer : RayProposer
        Of the same image; asked only for the kinds with rays.

    Raises
    ------
    ValueError
        For another kind, or layers that are not known.
    """
    if kind not in KINDS:
        raise ValueError(f"the evidence is {', '.join(map(repr, KINDS))}, or an Evidence; given was {kind!r}")
    if "layers" in kind and regions.layers is None:
        raise ValueError("these regions know no layers: use evidence='rays', or regions that a network found")
    found = proposer.propose(regions) if "rays" in kind else Evidence()
    if "layers" in kind:
        layers, std = np.asarray(regions.layers, np.float64), np.asarray(regions.layers_std, np.float64)
        return Evidence(found.radii, found.radii_std, layers, std)
    return found if "rays" in kind else None
