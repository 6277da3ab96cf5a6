"""How the prior of a method is learnt from the training images of a fold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from declump.datasets import AnnotatedImage
from declump.shapes.prior import ShapePrior, add_turned_copies
from declump.training.prior import learn_prior
from declump_paper.importance import learn_importance


@dataclass(frozen=True)
class Learning:
    """How a prior is learnt; see :func:`declump.learn_prior`.

    Attributes
    ----------
    copies, reach, with_examples, rays
        As there.
    importance : "off", "clump" or "image"
        Whether the importance of the examples is learnt first, as the paper prints it, and what the E that has to fall
        is of: the clump of the example, or its whole image.
    modes : int, optional
        Number of modes t, or as many as the examples have.
    """

    copies: bool = False
    reach: bool = False
    importance: Literal["off", "clump", "image"] = "off"
    with_examples: bool = False
    rays: int = 360
    modes: int | None = None

    @property
    def name(self) -> str:
        """Short name for files."""
        words = [word for word in ("copies", "reach") if getattr(self, word)]
        words += [f"importance-{self.importance}"] if self.importance != "off" else []
        words += ["examples"] if self.with_examples else []
        words += [f"t{self.modes}"] if self.modes is not None else []
        return "-".join([f"k{self.rays}", *words])

    def learn(self, images: Iterable[AnnotatedImage]) -> ShapePrior:
        """Learn a prior from training images."""
        known = list(images)
        how: dict[str, Any] = {"copies": self.copies, "reach": self.reach, "rays": self.rays, "modes": self.modes}
        if self.modes is not None:
            shapes = learn_prior(known, copies=False, reach=False, rays=self.rays, modes=0, with_examples=True).examples
            assert shapes is not None
            every = ShapePrior.fit(add_turned_copies(shapes) if self.copies else shapes, explained=1.0)
            how["modes"] = min(self.modes, every.variances.size)
        if self.importance != "off":
            how |= learn_importance(known, setting="paper", unit=self.importance, **how).to_weights()
        return learn_prior(known, with_examples=self.with_examples, **how)


PLAIN = Learning()
"""Shapes alone, as the paper has them but for their importance."""
FULL = Learning(copies=True, reach=True)
"""What declump learns by default."""
