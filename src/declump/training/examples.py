"""Annotated images divided into those that teach and those that are measured on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from declump.datasets import AnnotatedImage

E = TypeVar("E")


def divide_examples(
    folders: Iterable[Iterable[AnnotatedImage]],
    held_out: Collection[str],
    *,
    teach: Callable[[AnnotatedImage], E],
    measure: Callable[[AnnotatedImage], E],
) -> tuple[list[list[E]], list[E]]:
    """Make examples of annotated images.

    Parameters
    ----------
    folders : iterable of iterables of AnnotatedImage
    held_out : collection of str
        Names of images that teach nothing.
    teach, measure : callable
        Make an example that teaches, or one that is only measured on, of an image.

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
    measured = []
    for folder in folders:
        group = []
        for image in folder:
            if image.name in held_out:
                measured.append(measure(image))
            else:
                group.append(teach(image))
        groups.append(group)
    if len(measured) < len(set(held_out)):
        raise ValueError(f"some of the images to hold out ({', '.join(held_out)}) are in none of the folders")
    return groups, measured
