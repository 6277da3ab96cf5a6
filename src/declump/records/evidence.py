"""Evidence beside the clump: proposed and drawn outlines, with their standard deviations.

Each kind of evidence is a small record of arrays that knows how to be checked, restricted to a clump and so on
(:class:`EvidenceKind`); :class:`Evidence` is whatever kinds are known. Which kind becomes which term of the energy is
told in :mod:`declump.evolution.terms.build`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from declump.records.clump import Clump
from declump.shapes import contours

Floats = NDArray[np.float64]
Kind = TypeVar("Kind", bound="EvidenceKind")


class EvidenceKind(Protocol):
    """One kind of evidence: a frozen dataclass of arrays, checked on construction.

    Its fields have the names of those of :class:`Evidence` that it is given by. Every method but ``check`` gives a
    record of the same kind, and itself where nothing is to be done.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def check(self, cells: int, shape: tuple[int, ...]) -> None:
        """Refuse to be evidence of another number of cells, or of an image of another shape (H, W)."""

    def restrict(self, clump: Clump) -> Self:
        """Give what is about one clump: of its cells, in their order, and of the pixels of its crop."""

    def stride(self, stride: int) -> Self:
        """Give the same of an image of which every n-th pixel is kept, from the middle of the first n on."""

    def resample(self, rays: int) -> Self:
        """Give the same with another number of rays, if it has any."""

    def add_unknown(self, count: int) -> Self:
        """Give the same with that many more cells at the end, of which nothing is known."""


@dataclass(frozen=True, eq=False)
class ProposedRadii:
    """Proposed radii (N, K) of every cell in pixels, and their standard deviations, infinite where nothing is known."""

    radii: Floats
    radii_std: Floats

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        _check_pair(self)
        if not (self.radii_std > 0).all():
            raise ValueError("radii_std is more than 0 everywhere: no outline is known exactly")

    def check(self, cells: int, shape: tuple[int, ...]) -> None:
        """Refuse another number of cells than there are rows."""
        if len(self.radii) != cells:
            raise ValueError(
                f"evidence has one row of radii a seed, in the order of the seeds; given were {len(self.radii)} rows "
                f"for {cells} seeds: a cell of which nothing is known has an infinite radii_std"
            )

    def restrict(self, clump: Clump) -> ProposedRadii:
        """Give the rows of the cells of a clump."""
        return ProposedRadii(self.radii[clump.cells], self.radii_std[clump.cells])

    def stride(self, stride: int) -> ProposedRadii:
        """Give the radii in pixels that are larger by the stride."""
        return ProposedRadii(self.radii / stride, self.radii_std / stride)

    def resample(self, rays: int) -> ProposedRadii:
        """Interpolate between the rays; next to an unknown ray nothing is known."""
        if self.radii.shape[1] == rays:
            return self
        return ProposedRadii(contours.resample(self.radii, rays), contours.resample(self.radii_std, rays))

    def add_unknown(self, count: int) -> ProposedRadii:
        """Add rows with infinite standard deviations."""
        rows = np.ones((count, self.radii.shape[1]))
        return ProposedRadii(np.vstack([self.radii, rows]), np.vstack([self.radii_std, np.inf * rows]))


@dataclass(frozen=True, eq=False)
class DrawnRadii:
    """Radii (N, K) in pixels that a person drew, and their standard deviations, infinite where nothing was drawn."""

    drawn: Floats
    drawn_std: Floats

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        _check_pair(self)
        if not (self.drawn_std > 0).all():
            raise ValueError("drawn_std is more than 0 everywhere: no hand draws exactly")

    def check(self, cells: int, shape: tuple[int, ...]) -> None:
        """Refuse another number of cells than there are rows."""
        if len(self.drawn) != cells:
            raise ValueError(
                f"drawn radii have one row a seed; given were {len(self.drawn)} rows for {cells} seeds: a cell of "
                "which nothing is drawn has an infinite drawn_std"
            )

    def restrict(self, clump: Clump) -> DrawnRadii:
        """Give the rows of the cells of a clump."""
        return DrawnRadii(self.drawn[clump.cells], self.drawn_std[clump.cells])

    def stride(self, stride: int) -> DrawnRadii:
        """Give the radii in pixels that are larger by the stride."""
        return DrawnRadii(self.drawn / stride, self.drawn_std / stride)

    def resample(self, rays: int) -> DrawnRadii:
        """Interpolate between the rays; next to a ray that was not drawn nothing is known."""
        if self.drawn.shape[1] == rays:
            return self
        return DrawnRadii(contours.resample(self.drawn, rays), contours.resample(self.drawn_std, rays))

    def add_unknown(self, count: int) -> DrawnRadii:
        """Add rows with infinite standard deviations."""
        rows = np.ones((count, self.drawn.shape[1]))
        return DrawnRadii(np.vstack([self.drawn, rows]), np.vstack([self.drawn_std, np.inf * rows]))


KINDS: tuple[type[EvidenceKind], ...] = (ProposedRadii, DrawnRadii)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of cells apart from their clump; whatever is None says nothing.

    Attributes
    ----------
    radii : (N, K), optional
        Proposed radii of every cell in pixels, one row a seed.
    radii_std : (N, K), optional
        Their standard deviations in pixels, more than 0; infinite where nothing is known.
    drawn : (N, K), optional
        Radii that a person drew, one row a seed; they go before proposals.
    drawn_std : (N, K), optional
        Their standard deviations in pixels; infinite where nothing was drawn.
    """

    radii: Floats | None = None
    radii_std: Floats | None = None
    drawn: Floats | None = None
    drawn_std: Floats | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        for part in self.parts:
            for field in fields(part):
                object.__setattr__(self, field.name, getattr(part, field.name))

    @cached_property
    def parts(self) -> tuple[EvidenceKind, ...]:
        """The kinds of evidence that are known."""
        parts = []
        for kind in KINDS:
            given = {field.name: getattr(self, field.name) for field in fields(kind)}
            if all(array is None for array in given.values()):
                continue
            if any(array is None for array in given.values()):
                raise ValueError(f"{' and '.join(given)} are given together, or neither")
            parts.append(kind(**given))
        return tuple(parts)

    @classmethod
    def from_parts(cls, parts: Sequence[EvidenceKind]) -> Evidence:
        """Put kinds of evidence together."""
        return cls(**{field.name: getattr(part, field.name) for part in parts for field in fields(part)})

    def find(self, kind: type[Kind]) -> Kind | None:
        """Give the part of a kind, if it is known."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def check(self, cells: int, shape: tuple[int, ...]) -> None:
        """Refuse to be evidence of another number of cells, or of an image of another shape."""
        for part in self.parts:
            part.check(cells, shape)

    def restrict(self, clump: Clump) -> Evidence:
        """Give the part of an image's evidence that is about one clump: one row a cell of it."""
        return self._replace_parts(lambda part: part.restrict(clump))

    def stride(self, stride: int) -> Evidence:
        """Give the same evidence of an image of which every n-th pixel is kept, from the middle of the first n on."""
        return self._replace_parts(lambda part: part.stride(stride))

    def resample(self, rays: int) -> Evidence:
        """Give the same evidence with another number of rays."""
        return self._replace_parts(lambda part: part.resample(rays))

    def add_unknown(self, count: int) -> Evidence:
        """Give the same evidence with that many more cells at the end, of which nothing is known."""
        return self._replace_parts(lambda part: part.add_unknown(count))

    def _replace_parts(self, change: Callable[[EvidenceKind], EvidenceKind]) -> Evidence:
        return type(self).from_parts([change(part) for part in self.parts])


def _check_pair(part: ProposedRadii | DrawnRadii) -> None:
    """Make two arrays, values and standard deviations, contiguous numbers; refuse them if they do not fit together."""
    (name, values), (name_std, std) = (
        (field.name, np.ascontiguousarray(getattr(part, field.name), dtype=np.float64)) for field in fields(part)
    )
    if values.ndim != 2 or values.shape != std.shape:
        raise ValueError(
            f"{name} and {name_std} are two-dimensional and of one shape; given were {values.shape} and {std.shape}"
        )
    if not np.isfinite(values).all() or (values < 0).any() or not (std >= 0).all():
        raise ValueError(f"{name} are finite and not negative, {name_std} is at least 0; these are not")
    object.__setattr__(part, name, values)
    object.__setattr__(part, name_std, std)
