"""What a run does with every image, as it is kept in ``run.json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from declump.io.formats import DEFAULT

OURS = "declump"
"""The name of our own method among those of ``declump segment --method``."""


@dataclass(frozen=True)
class Options:
    """What changes the results.

    Attributes
    ----------
    method : str
        ``"declump"``, or the name of a method in ``declump.compared.METHODS``, for which ``evidence``, ``rays`` and
        ``setting`` mean nothing, nor ``prior`` for most: what is not as by default is refused.
    regions, evidence, rays, prior, setting, pixel_size, diameter
        See :func:`declump.segment`. Without ``pixel_size`` that of an image's metadata is taken.
    min_nucleus_area, min_clump_area, max_hole_area
        See :func:`declump.find_regions`; in square micrometres only if ``pixel_size`` is given.
    formats : tuple of str
        Names in ``declump.io.FORMATS``.
    """

    method: str = OURS
    regions: str = "default"
    evidence: str | None = None
    rays: str = "default"
    prior: str = "default"
    setting: str = "joint"
    pixel_size: float | None = None
    diameter: float | None = None
    min_nucleus_area: float | None = None
    min_clump_area: float | None = None
    max_hole_area: float | None = None
    formats: tuple[str, ...] = DEFAULT

    def __post_init__(self) -> None:
        """Refuse a method that there is not, and what it would not heed."""
        if self.method == OURS:
            return
        from declump.compared import METHODS

        if self.method not in METHODS:
            raise ValueError(f"there is no method {self.method!r}; the methods are {', '.join([OURS, *METHODS])}")
        given = {
            "evidence": self.evidence is not None,
            "rays": self.rays != "default",
            "setting": self.setting != "joint",
        }
        given["prior"] = self.prior != "default" and not METHODS[self.method].uses_prior
        unheeded = [f"--{name}" for name, is_given in given.items() if is_given]
        if unheeded:
            raise ValueError(f"{' and '.join(unheeded)} would change nothing with --method {self.method}; leave it out")

    def record(self) -> dict[str, Any]:
        """Give all options as JSON has them."""
        return {**asdict(self), "formats": list(self.formats)}
