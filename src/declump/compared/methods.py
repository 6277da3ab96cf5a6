"""The compared methods by name; each is imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from declump.prior import ShapePrior
from declump.regions import Regions
from declump.segmentation import Segmentation


@dataclass(frozen=True)
class ComparedMethod:
    """A published method, or our reading of one.

    Attributes
    ----------
    name : str
        As on the command line; the module ``declump.compared.<name>`` holds a function of this name.
    title : str
        As in tables; says "our reading" where the publication does not tell enough.
    reference : str
        Authors, title, where and when.
    uses_prior : bool
        Whether it heeds a shape prior, and so has to be told one that did not see the image.
    uses_image : bool
        Whether it looks at the image, not only at the regions.
    """

    name: str
    title: str
    reference: str
    uses_prior: bool
    uses_image: bool

    def __call__(
        self,
        image: Any,
        regions: Regions,
        *,
        prior: ShapePrior | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Segmentation:
        """Segment an image whose clumps and nuclei are known.

        Parameters
        ----------
        image : (H, W), (H, W, 3) or (H, W, 4)
            See :func:`declump.segment`.
        regions : Regions
        prior : ShapePrior, optional
            Shapes to expect; by default the shipped one, where a method heeds any.
        progress : callable, optional
            Called with the number of cells done and in all.

        Returns
        -------
        Segmentation
            One row a nucleus, in the order of the regions.
        """
        function = getattr(import_module(f"declump.compared.{self.name}"), self.name)
        found: Segmentation = function(image, regions, prior=prior, progress=progress)
        return found


METHODS: dict[str, ComparedMethod] = {}


def find_method(name: str) -> ComparedMethod:
    """Give a method by its name, or say which there are."""
    if name not in METHODS:
        raise ValueError(f"there is no method {name!r}; the compared methods are {', '.join(METHODS)}")
    return METHODS[name]
