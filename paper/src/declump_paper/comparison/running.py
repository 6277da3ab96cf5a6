"""All methods on one image, on the same regions: what each finds, how long it takes, how good it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.batch.rehearsal import two_discs
from declump.errors import raise_ending, sentence
from declump.evaluation import Score, score
from declump.images.accepting import ImageLike, to_pixels
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.regions.channels import ImageChannels
from declump.regions.find import get_regions
from declump.regions.options import RegionOptions, to_region_options
from declump.shapes.prior import ShapePrior
from declump_paper.methods import find_method, method_names


@dataclass(frozen=True, eq=False)
class Compared:
    """What became of one method.

    Attributes
    ----------
    name : str
    title : str
        As in tables.
    reference : str
        Who published it.
    seconds : float
        How long it took, the search for regions not included.
    segmentation : Segmentation, optional
        None if it failed.
    score : Score, optional
        Where the truth is known.
    reason : str
        Why it failed.
    """

    name: str
    title: str
    reference: str
    seconds: float
    segmentation: Segmentation | None = None
    score: Score | None = None
    reason: str = ""


def compare(
    image: ImageLike,
    *,
    methods: Sequence[str] | None = None,
    regions: Regions | RegionOptions | str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    truth: NDArray[np.bool_] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Compared]:
    """Let methods segment the same image from the same regions. One that fails does not stop the others.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        See :func:`declump.segment`.
    methods : sequence of str, optional
        See :func:`declump_paper.methods.method_names`.
    regions : Regions, RegionOptions, str or Path
        See :func:`declump.segment`; found once.
    prior : ShapePrior, str or Path
        Shapes to expect, for the methods that heed any.
    truth : (N, H, W) bool, optional
        Whole masks of the true cells.
    progress : callable, optional
        Called with the number of methods done and in all.

    Returns
    -------
    list of Compared
        In the order of the methods.

    Raises
    ------
    ValueError
        If there is no such method, regions or truth are of another image, or a true cell is empty.
    """
    names, picture = method_names(methods), to_pixels(image)
    if truth is not None and truth.shape[1:] != picture.shape[:2]:
        raise ValueError(
            f"the truth is of another image: {truth.shape[1:]} pixels against {picture.shape[:2]}; give the cells of "
            "this one"
        )
    if truth is not None and not truth.any(axis=(1, 2)).all():
        raise ValueError("a true cell has an empty mask; leave it out of the truth")
    shapes = prior if isinstance(prior, ShapePrior) else ShapePrior.load(prior)
    known = get_regions(ImageChannels(picture), regions if isinstance(regions, Regions) else to_region_options(regions))
    rehearsal = two_discs()
    compared = []
    for done, name in enumerate(names, start=1):
        method = find_method(name)
        options: dict[str, Any] = {"prior": shapes} if "prior" in method.options else {}
        start = time.perf_counter()
        try:
            # What is compiled or loaded at first use is no part of the method.
            method(*rehearsal, **options)
            start = time.perf_counter()
            found = method(picture, known, **options)
        except Exception as error:  # whatever it is, the others can still be compared
            raise_ending(error)
            seconds, reason = time.perf_counter() - start, sentence(error)
            compared.append(Compared(name, method.title, method.reference, seconds, reason=reason))
        else:
            seconds = time.perf_counter() - start
            figures = None if truth is None else score(truth, found.masks)
            compared.append(Compared(name, method.title, method.reference, seconds, found, figures))
        if progress:
            progress(done, len(names))
    return compared
