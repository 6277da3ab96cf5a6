"""Seeds that a person adds, moves and deletes in a table of points, as edits of a review session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.batch.options import Options
from declump.measurements.tables import measure
from declump.records.segmentation import Segmentation
from declump.review.edits import AddSeed, DeleteCell, Edit, MoveSeed
from declump.review.session import Session

MOVED = 0.5
"""A point that lies farther than this from its seed, in pixels, was moved."""


class Cancelled(Exception):
    """Nobody waits for the result any more."""


class SeedReview:
    """An image whose cells follow from seeds that a person corrects.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    options : Options, optional
        As for any review.

    Attributes
    ----------
    session : Session
        The same that the browser's review edits.
    result : Segmentation
        What was found last, in the order of ``numbers``; empty before.
    numbers : list of int
        Numbers of its cells, which stay with them.
    """

    def __init__(self, image: NDArray[Any], options: Options | None = None) -> None:
        options = options or Options()
        self.image, self.pixel_size = image, options.pixel_size
        self.session = Session(image, None, options)
        self.numbers: list[int] = []
        nothing = np.zeros((0, self.session.solver.prior.rays))
        self.result = Segmentation(image.shape[:2], np.zeros((0, 2)), nothing, np.zeros(0, np.int64))

    def evolve(
        self,
        is_cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Segmentation:
        """Evolve the clumps that have changed.

        Raises
        ------
        Cancelled
            If it was; the last result stays.
        """

        def check(*_: object) -> None:
            if is_cancelled():
                raise Cancelled

        numbers = self.session.numbers
        result = self.session.evolve(check, progress=progress)
        check()
        self.result, self.numbers = result, numbers
        return self.result

    def measure(self) -> dict[str, NDArray[Any]]:
        """Measure the cells of the last result."""
        return dict(measure(self.result, self.image, pixel_size=self.pixel_size).cells)

    def find_edits(self, points: ArrayLike, numbers: ArrayLike) -> list[Edit]:
        """Tell what was done to the seeds of the last result.

        Parameters
        ----------
        points : (M, 2)
            Row and column of the seeds as they are now.
        numbers : (M,)
            Of their cells. A number that no cell has, or that came before, is that of a new seed: napari gives a new
            point the features of an old one.

        Returns
        -------
        list of Edit
            Deletions, then moves, then new seeds.
        """
        known = dict(zip(self.numbers, self.result.seeds, strict=True))
        seen: set[int] = set()
        moved: list[Edit] = []
        added: list[Edit] = []
        given = np.nan_to_num(np.asarray(numbers, dtype=np.float64)).astype(int).tolist()
        places = np.asarray(points, dtype=np.float64).reshape(-1, 2).tolist()
        for (row, column), number in zip(places, given, strict=True):
            if number not in known or number in seen:
                added.append(AddSeed(row, column))
                continue
            seen.add(number)
            if np.hypot(*(known[number] - (row, column))) > MOVED:
                moved.append(MoveSeed(number, row, column))
        return [*(DeleteCell(number) for number in known if number not in seen), *moved, *added]

    def make(self, edits: list[Edit]) -> list[str]:
        """Make edits; give the reasons for which some could not be made."""
        refusals = []
        for edit in edits:
            try:
                self.session.make(edit)
            except ValueError as error:
                refusals.append(str(error))
        return refusals
