"""Corrected clumps of a slide as data to learn from: one file of small annotated images, written by a review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file
from declump.datasets.annotated import AnnotatedImage

FILE = "corrected.npz"
"""In the results of a slide: what its review taught."""
_NAMES = "names"
_PARTS = ("image", "cells", "nuclei", "seeds", "unknown")


def write(images: Iterable[AnnotatedImage], path: Path) -> None:
    """Write annotated images into one file, which comes into place whole."""
    arrays: dict[str, NDArray[Any]] = {}
    names = []
    for number, image in enumerate(images):
        names.append(image.name)
        unknown = np.zeros(image.image.shape[:2], np.bool_) if image.unknown is None else image.unknown
        parts = (image.image, image.cells, image.nucleus_labels, image.seeds, unknown)
        arrays |= {f"{number} {name}": part for name, part in zip(_PARTS, parts, strict=True)}
    with atomic_file(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **{_NAMES: np.array(names, np.str_)}, **arrays)


def read(folder: str | Path) -> Iterator[AnnotatedImage]:
    """Read the clumps of a slide that were corrected.

    Parameters
    ----------
    folder : str or Path
        Results of ``declump slide`` that were corrected by ``declump open`` and saved.

    Returns
    -------
    iterator of AnnotatedImage
        One a clump, with a margin; what lies beside it was not looked at, and is unknown.

    Raises
    ------
    FileNotFoundError
        If no clump was corrected: a model would only learn its own mistakes.
    ValueError
        If the file cannot be read.
    """
    path = Path(folder) / FILE
    try:
        with np.load(path, allow_pickle=False) as kept:
            names, arrays = kept[_NAMES].tolist(), {name: kept[name] for name in kept.files}
    except FileNotFoundError:
        names, arrays = [], {}
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"{path} cannot be read ({error}); save the review of the slide again.") from error
    if not names:
        raise FileNotFoundError(
            f"No clump of the slide in {folder} was corrected, so there is nothing to learn; correct some with "
            "'declump open'."
        )
    return (AnnotatedImage(name, *(arrays[f"{number} {part}"] for part in _PARTS)) for number, name in enumerate(names))
