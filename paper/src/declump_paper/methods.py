"""All methods by name: declump itself, and those of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from declump.images.accepting import ImageLike, to_pixels
from declump.pipelines.cells import segment
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.regions.channels import ImageChannels
from declump.regions.find import get_regions
from declump.regions.options import RegionOptions, to_region_options
from declump.shapes.prior import ShapePrior
from declump_paper.compared import METHODS as COMPARED
from declump_paper.compared import ComparedMethod

OURS = "declump"
"""The name of our own method."""


@dataclass(frozen=True)
class Method:
    """One way to find the cells of an image.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        As in tables.
    reference : str
        Who published it.
    options : tuple of str
        Arguments of :func:`declump.segment` that it heeds beside image, regions, progress and stage.
    segmenter : callable
        What does it, with the signature of :func:`declump.segment` as far as its options go.
    """

    name: str
    title: str
    reference: str
    options: tuple[str, ...]
    segmenter: Callable[..., Segmentation]

    def __call__(
        self,
        image: ImageLike,
        regions: Regions | RegionOptions | str | Path = "default",
        *,
        progress: Callable[[int, int], None] | None = None,
        stage: Callable[[str], None] | None = None,
        **options: Any,
    ) -> Segmentation:
        """Find every cell of an image.

        Parameters
        ----------
        image : (H, W), (H, W, 3) or (H, W, 4)
            See :func:`declump.segment`.
        regions : Regions, RegionOptions, str or Path
            See :func:`declump.segment`.
        progress : callable, optional
            Called with the number of cells done and in all.
        stage : callable, optional
            Called with the name of each stage as it begins.
        **options
            By name, as :func:`declump.segment` takes them.

        Returns
        -------
        Segmentation
            One row a nucleus, in the order of the regions, then those without one.

        Raises
        ------
        ValueError
            For an option that the method does not heed.
        """
        self.check_options(options)
        return self.segmenter(image, regions=regions, progress=progress, stage=stage, **options)

    def check_options(self, names: Iterable[str]) -> None:
        """Refuse options that it would not heed."""
        unheeded = [name for name in names if name not in self.options]
        if unheeded:
            them = "it" if len(unheeded) == 1 else "them"
            raise ValueError(
                f"{' and '.join(unheeded)} would change nothing with the method {self.name}; leave {them} out"
            )


@dataclass(frozen=True)
class _Compared:
    """A compared method, given regions or told how to find them."""

    method: ComparedMethod

    def __call__(
        self,
        image: ImageLike,
        *,
        regions: Regions | RegionOptions | str | Path,
        progress: Callable[[int, int], None] | None,
        stage: Callable[[str], None] | None,
        prior: ShapePrior | str | Path = "default",
    ) -> Segmentation:
        pixels = to_pixels(image)
        known = regions if isinstance(regions, Regions) else to_region_options(regions)
        shapes = None
        if self.method.uses_prior:
            shapes = prior if isinstance(prior, ShapePrior) else ShapePrior.load(prior)
        begin = stage or (lambda _name: None)
        begin("regions")
        found = get_regions(ImageChannels(pixels), known)
        begin("cells")
        return self.method(pixels, found, prior=shapes, progress=progress)


def _from_compared(method: ComparedMethod) -> Method:
    options = ("prior",) if method.uses_prior else ()
    return Method(method.name, method.title, method.reference, options, _Compared(method))


METHODS: dict[str, Method] = {
    OURS: Method(
        OURS,
        "declump",
        "this package; after Y. Song et al., constrained multi-shape evolution",
        ("evidence", "rays", "prior", "setting"),
        segment,
    ),
    **{name: _from_compared(method) for name, method in COMPARED.items()},
}
"""Our own first, then those of ``declump_paper.compared.METHODS``."""


def find_method(name: str) -> Method:
    """Give a method by its name, or say which there are."""
    return METHODS[method_names([name])[0]]


def method_names(given: Sequence[str] | None = None) -> tuple[str, ...]:
    """Names of the methods that are meant, by default all: our own first, then the compared ones.

    Raises
    ------
    ValueError
        If there is no method of a name, or none is given.
    """
    if given is None:
        return tuple(METHODS)
    unknown = [name for name in given if name not in METHODS]
    if unknown or not given:
        wrong = f"there is no method {unknown[0]!r}" if unknown else "no method is given"
        raise ValueError(f"{wrong}; the methods are {', '.join(METHODS)}")
    return tuple(dict.fromkeys(given))
