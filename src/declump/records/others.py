"""What was found beside cells: leukocytes, debris and other spots that are not nuclei of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEUKOCYTE = "leukocyte"
OTHER = "other"
KINDS = (LEUKOCYTE, OTHER)


@dataclass(frozen=True, eq=False)
class Others:
    """Spots that were judged not to be nuclei of cells, kept apart from the cells.

    Attributes
    ----------
    places : (M, 2) float64
        Row and column of the middle of each.
    areas : (M,) float64
        Square pixels.
    probability : (M,) float64
        Probability that it is the nucleus of a cell after all.
    kinds : tuple of str
        ``"leukocyte"`` for what is one more probably than a nucleus, ``"other"`` for folds, debris and faint spots.
    """

    places: NDArray[np.float64]
    areas: NDArray[np.float64]
    probability: NDArray[np.float64]
    kinds: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse columns of different lengths, and kinds that there are not."""
        count = len(self.kinds)
        if (self.places.shape, self.areas.shape, self.probability.shape) != ((count, 2), (count,), (count,)):
            raise ValueError(
                "others have places (M, 2), areas (M,), probability (M,) and M kinds; given were "
                f"{self.places.shape}, {self.areas.shape}, {self.probability.shape} and {count}"
            )
        unknown = sorted(set(self.kinds) - set(KINDS))
        if unknown:
            raise ValueError(f"others are of the kinds {' and '.join(KINDS)}; given was {unknown[0]!r}")

    def __len__(self) -> int:
        """Return their number."""
        return len(self.kinds)

    def move(self, down: int, right: int) -> Others:
        """Move them by so many pixels."""
        return Others(self.places + np.array([down, right]), self.areas, self.probability, self.kinds)

    def sort(self) -> Others:
        """Bring them into the order of their rows, then columns."""
        order = np.lexsort((self.places[:, 1], self.places[:, 0]))
        kinds = tuple(self.kinds[index] for index in order.tolist())
        return Others(self.places[order], self.areas[order], self.probability[order], kinds)

    @property
    def leukocytes(self) -> int:
        """Number of those that look like leukocytes."""
        return self.kinds.count(LEUKOCYTE)

    def to_columns(self) -> dict[str, list[float] | list[int] | list[str]]:
        """Give them as a table: one row each."""
        return {
            "id": list(range(1, len(self) + 1)),
            "kind": list(self.kinds),
            "row_px": self.places[:, 0].tolist(),
            "column_px": self.places[:, 1].tolist(),
            "area_px2": self.areas.tolist(),
            "nucleus_probability": self.probability.tolist(),
        }
