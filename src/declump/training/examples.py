"""Images divided into those that teach and those that are measured on, and composites of those that teach."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.records.regions import Regions
from declump.training.composites.compose import Stock

E = TypeVar("E")
Image = AnnotatedImage | MarkedNuclei


def divide_examples(
    folders: Iterable[Iterable[Image]],
    held_out: Collection[str],
    *,
    teach: Callable[[Image], E | None],
    measure: Callable[[AnnotatedImage], E],
    composites: int = 0,
    find: Callable[[MarkedNuclei], Regions] | None = None,
    seed: int = 0,
) -> tuple[list[list[E]], list[E]]:
    """Make examples of annotated images.

    Parameters
    ----------
    folders : iterable of iterables of AnnotatedImage or MarkedNuclei
    held_out : collection of str
        Names of images that teach nothing.
    teach, measure : callable
        Make an example that teaches, or one that is only measured on, of an image. Images that have nothing to teach
        give None; they still give lone cells, leukocytes and debris to composites. Only annotated images are measured
        on.
    composites : int
        Number of composites of the images that teach (:mod:`declump.training.composites`): a group more.
    find : callable, optional
        Finds the regions of an image with marked nuclei, so that its lone cells are laid onto composites, too.
    seed : int
        What the composites follow from.

    Returns
    -------
    groups : list of lists
        Examples that teach, by folder.
    measured : list
        Examples of the images that are held out.

    Raises
    ------
    ValueError
        If an image to hold out is in none of the folders.
    """
    groups: list[list[E]] = []
    measured: list[E] = []
    kept_out = set()
    stock = Stock()
    for folder in folders:
        group = []
        for image in folder:
            if image.name in held_out:
                kept_out.add(image.name)
                measured += [measure(image)] if isinstance(image, AnnotatedImage) else []
                continue
            example = teach(image)
            group += [] if example is None else [example]
            if composites:
                found = find(image) if find is not None and isinstance(image, MarkedNuclei) else None
                stock.add(image, found)
        groups.append(group)
    check_held_out(held_out, kept_out)
    if composites:
        made = [teach(composite) for composite in stock.compose(composites, seed)]
        groups.append([example for example in made if example is not None])
    return groups, measured


def check_held_out(held_out: Collection[str], found: Collection[str]) -> None:
    """Refuse names of images to hold out that were not found: a slip would let them teach."""
    missing = sorted(set(held_out) - set(found))
    if missing:
        raise ValueError(f"some of the images to hold out ({', '.join(missing)}) are in none of the folders")
