"""Images in which only the nuclei are marked: a point in each, or a mask of all; cells are not drawn.

Every nucleus of a cell is marked; what is dark and bears no mark is something else: a leukocyte, debris, a fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.datasets.annotated import AnnotatedImage
from declump.images.reading import read_image
from declump.records.regions import number_nuclei, seeds_from_labels

MASK = "_nuclei.png"
"""End of the name of a mask of all nuclei of an image."""
UNKNOWN = "_unknown.png"
"""End of the name of a mask of where nobody could tell whether there are nuclei."""
_LAYOUT = f"NAME.png with NAME.csv (a row and a column a line) or NAME{MASK} beside it"


@dataclass(frozen=True, eq=False)
class MarkedNuclei:
    """An image and the nuclei of its cells.

    Attributes
    ----------
    name : str
        Name of the image, that of its folder before it: data sets number their frames alike.
    image : (H, W) or (H, W, 3)
    points : (N, 2) float64
        Row and column of a point in each nucleus.
    labels : (H, W) int32, optional
        Number of the nucleus, from 1 in the order of the points; None where only points are known.
    unknown : (H, W) bool, optional
        Where there may be nuclei that are not marked.
    """

    name: str
    image: NDArray[Any]
    points: NDArray[np.float64]
    labels: NDArray[np.int32] | None = None
    unknown: NDArray[np.bool_] | None = None

    @classmethod
    def from_cells(cls, image: AnnotatedImage) -> MarkedNuclei:
        """Forget the cells of an annotated image."""
        labels = number_nuclei(image.nucleus_labels)
        return cls(image.name, image.image, seeds_from_labels(labels), labels, image.unknown)

    def resize(self, factor: float) -> MarkedNuclei:
        """Give the image, with its marks, made larger or smaller by a factor."""
        from skimage.transform import resize

        shape = tuple(max(round(side * factor), 1) for side in self.image.shape[:2])
        image = resize(
            self.image, (*shape, *self.image.shape[2:]), order=1, anti_aliasing=factor < 1, preserve_range=True
        )
        # Each pixel of the new size is marked as the old one at its middle is.
        sides = zip(shape, self.image.shape[:2], strict=True)
        nearest = np.ix_(*((2 * np.arange(new) + 1) * old // (2 * new) for new, old in sides))
        labels = None if self.labels is None else self.labels[nearest]
        unknown = None if self.unknown is None else self.unknown[nearest]
        points = (self.points + 0.5) * (np.array(shape) / self.image.shape[:2]) - 0.5
        return MarkedNuclei(self.name, image.astype(self.image.dtype), points, labels, unknown)


def is_marked(folder: Path) -> bool:
    """Whether a folder holds images with marked nuclei."""
    return any(_marks(path) is not None for path in folder.glob("*.png"))


def read(folder: str | Path) -> Iterator[MarkedNuclei]:
    """Read images with marked nuclei, sorted by name.

    Parameters
    ----------
    folder : str or Path
        Holds ``NAME.png`` with ``NAME.csv`` beside it (row and column of a point in each nucleus, a nucleus a line, as
        in Cervix93), or with ``NAME_nuclei.png`` (what is not 0 is nucleus). In ``NAME_unknown.png``, which need not be
        there, what is not 0 may be a nucleus or not. Other pictures are passed over.

    Returns
    -------
    iterator of MarkedNuclei

    Raises
    ------
    FileNotFoundError
        If there is no such image.
    ValueError
        If points lie outside their image, or a mask has another size.
    """
    pairs = [(path, marks) for path in sorted(Path(folder).glob("*.png")) if (marks := _marks(path)) is not None]
    if not pairs:
        raise FileNotFoundError(f"No marked nuclei in {folder}; the reader looks for {_LAYOUT}.")
    return (_read_image(path, marks) for path, marks in pairs)


def _marks(path: Path) -> Path | None:
    """Give the file with the nuclei of an image."""
    if path.name.endswith((MASK, UNKNOWN)):
        return None
    places = (path.with_suffix(".csv"), path.with_name(path.stem + MASK))
    return next((place for place in places if place.is_file()), None)


def _read_image(path: Path, marks: Path) -> MarkedNuclei:
    image, name = read_image(path), f"{path.resolve().parent.name}/{path.stem}"
    doubtful = path.with_name(path.stem + UNKNOWN)
    unknown = _read_mask(doubtful, image.shape[:2]) if doubtful.is_file() else None
    if marks.suffix == ".csv":
        points = _read_points(marks)
        if not ((points > -0.5).all() and (points < np.array(image.shape[:2]) - 0.5).all()):
            raise ValueError(f"{marks} has points outside its image; give row and column, counted from 0.")
        return MarkedNuclei(name, image, points, unknown=unknown)
    labels = number_nuclei(_read_mask(marks, image.shape[:2]))
    return MarkedNuclei(name, image, seeds_from_labels(labels), labels, unknown)


def _read_mask(path: Path, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    mask = np.asarray(read_image(path))
    if mask.shape[:2] != shape:
        raise ValueError(f"{path} has shape {mask.shape[:2]}, its image {shape}; they must agree.")
    return np.asarray((mask if mask.ndim == 2 else mask.any(axis=2)) != 0)


def _read_points(path: Path) -> NDArray[np.float64]:
    try:
        text = path.read_text(encoding="utf-8").strip()
        rows = [[float(part) for part in line.split(",")] for line in text.splitlines()]
        return np.array(rows, dtype=np.float64).reshape(len(rows), 2)
    except ValueError as error:
        raise ValueError(f"{path} is no table of points: give a row and a column a line, with a comma.") from error
