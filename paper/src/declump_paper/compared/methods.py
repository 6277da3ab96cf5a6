"""The compared methods by name; each is imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.shapes.prior import ShapePrior


@dataclass(frozen=True)
class ComparedMethod:
    """A published method, or our reading of one.

    Attributes
    ----------
    name : str
        As on the command line; the module ``declump_paper.compared.<name>`` holds a function of this name.
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
        function = getattr(import_module(f"declump_paper.compared.{self.name}"), self.name)
        found: Segmentation = function(image, regions, prior=prior, progress=progress)
        return found


METHODS: dict[str, ComparedMethod] = {
    method.name: method
    for method in (
        ComparedMethod(
            "lsf",
            "LSF, joint level sets",
            "Z. Lu, G. Carneiro and A. P. Bradley, An improved joint optimization of multiple level set functions for "
            "the segmentation of overlapping cervical cells, IEEE Transactions on Image Processing 24, 2015",
            uses_prior=False,
            uses_image=True,
        ),
        ComparedMethod(
            "mcl",
            "MCL, multiple cells labelling",
            "Y. Song, E.-L. Tan, X. Jiang, J.-Z. Cheng, D. Ni, S. Chen, B. Lei and T. Wang, Accurate cervical cell "
            "segmentation from overlapping clumps in Pap smear images, IEEE Transactions on Medical Imaging 36, 2017",
            uses_prior=True,
            uses_image=True,
        ),
        ComparedMethod(
            "mpw",
            "MPW, multi-pass watershed (our reading)",
            "A. Tareef et al., Multi-pass fast watershed for accurate segmentation of overlapping cervical cells, IEEE "
            "Transactions on Medical Imaging 37, 2018",
            uses_prior=False,
            uses_image=True,
        ),
        ComparedMethod(
            "cf",
            "CF, contour fragments (our reading)",
            "Y. Song et al., Segmentation of overlapping cytoplasm in cervical smear images via adaptive shape priors "
            "extracted from contour fragments, IEEE Transactions on Medical Imaging 38, 2019",
            uses_prior=True,
            uses_image=True,
        ),
        ComparedMethod(
            "star",
            "Star-shaped level sets (our reading)",
            "M. S. Nosrati and G. Hamarneh, Segmentation of overlapping cervical cells: a variational method with "
            "star-shape prior, ISBI 2015",
            uses_prior=False,
            uses_image=False,
        ),
    )
}


def find_method(name: str) -> ComparedMethod:
    """Give a method by its name, or say which there are."""
    if name not in METHODS:
        raise ValueError(f"there is no method {name!r}; the compared methods are {', '.join(METHODS)}")
    return METHODS[name]
