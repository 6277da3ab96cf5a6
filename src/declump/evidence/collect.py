"""What a whole image says of its cells, by the kinds of evidence asked for."""

from __future__ import annotations

from declump.evidence.proposals import RayProposer
from declump.records.evidence import Evidence
from declump.records.regions import Regions

KINDS = ("clump", "rays")


def collect_evidence(regions: Regions, kind: str, proposer: RayProposer) -> Evidence | None:
    """Gather evidence of the cells of an image.

    Parameters
    ----------
    regions : Regions
    kind : str
        ``"clump"``: none beside the clump; ``"rays"``: proposals of whole outlines.
    proposer : RayProposer
        Of the same image; asked only for rays.

    Raises
    ------
    ValueError
        For another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"the evidence is {', '.join(map(repr, KINDS))}, or an Evidence; given was {kind!r}")
    return proposer.propose(regions) if kind == "rays" else None
