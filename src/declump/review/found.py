"""What was found in an image, or in a clump of a slide, before anybody corrected it; of an image as a file, too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file
from declump.errors import BROKEN, reason_of
from declump.pipelines.by_clump import Solved, find_middles
from declump.pipelines.decide import Cell
from declump.pipelines.others import describe_others
from declump.pipelines.solve import ClumpSolution
from declump.pipelines.view import OWN
from declump.records.segmentation import ClumpRecord, Segmentation
from declump.records.spots import Spots
from declump.records.statistics import ImageStatistics

FILE = "found.npz"
_FORMAT, _VERSION = "declump found", 2


@dataclass(frozen=True, eq=False)
class Found:
    """Clumps, candidates and cells as they were found.

    Attributes
    ----------
    clump : (H, W) bool
    candidates : Spots
    accepted : (S,) bool
        Candidates that are nuclei by themselves: what clumps see of each other.
    places : (P, 2) int64
        Middles of the probable nuclei, by which large clumps are cut.
    cells : sequence of Cell
        Candidates of each cell with a nucleus.
    result : Segmentation
        All cells, those without a nucleus last.
    around : (H, W) uint8, optional
        Of a clump of a slide, what is beside it: ``OTHER`` and ``SEVERED``.
    beside : Spots, optional
        And the accepted nuclei there.
    """

    clump: NDArray[np.bool_]
    candidates: Spots
    accepted: NDArray[np.bool_]
    places: NDArray[np.int64]
    cells: Sequence[Cell]
    result: Segmentation
    around: NDArray[np.uint8] | None = None
    beside: Spots | None = None

    @classmethod
    def of_image(cls, solved: Solved) -> Found:
        """Keep what was found in an image."""
        division = solved.division
        owned, result = division.owned, solved.assemble()
        cells = [tuple(rows[list(cell)].tolist()) for _, rows, solution in solved.parts for cell in solution.cells]
        probable = owned.candidates.probability >= division.solver.min_nucleus if owned.given is None else owned.given
        places = find_middles(owned.candidates)[probable]
        return cls(division.labels > 0, owned.candidates, owned.accepted, places, sorted(cells), result)

    @classmethod
    def of_clump(cls, solution: ClumpSolution, statistics: ImageStatistics) -> Found:
        """Keep what was found in a clump, in the coordinates of its box."""
        view, own = solution.view, np.flatnonzero(solution.view.own)
        candidates, beside = (
            view.candidates.choose(rows).move(-view.box.top, -view.box.left) for rows in (own, ~view.own)
        )
        place = {row: index for index, row in enumerate(own.tolist())}
        cells = [tuple(place[member] for member in cell) for cell in solution.cells]
        others = describe_others(candidates.choose(np.array([place[row] for row in solution.left.tolist()], np.int64)))
        result = solution.to_segmentation(others.sort(), statistics)
        around = np.where(view.labels == OWN, 0, view.labels).astype(np.uint8)
        accepted = view.accepted[own]
        return cls(view.mask, candidates, accepted, find_middles(candidates)[accepted], cells, result, around, beside)

    @property
    def statistics(self) -> ImageStatistics:
        """Of the image."""
        assert self.result.statistics is not None
        return self.result.statistics

    @property
    def is_classified(self) -> bool:
        """Whether candidates have probabilities."""
        return self.result.nucleus_probability is not None

    @cached_property
    def left(self) -> NDArray[np.int64]:
        """Candidates that became no nuclei."""
        taken = {member for cell in self.cells for member in cell}
        return np.array([row for row in range(len(self.candidates)) if row not in taken], np.int64)

    @cached_property
    def others_seen(self) -> Spots:
        """All accepted nuclei, as a clump sees those of others."""
        own = self.candidates.choose(self.accepted)
        return own if self.beside is None else Spots.join([own, self.beside], sort=False)

    def show_around(self, shape: tuple[int, int]) -> NDArray[np.uint8]:
        """What lies beside all clumps that can be corrected (H, W): ``OTHER``, ``SEVERED`` or 0."""
        return np.zeros(shape, np.uint8) if self.around is None else self.around.copy()


def write_found(found: Found, origin: dict[str, Any], path: Path) -> None:
    """Write the file, whole or not at all; the same content gives the same bytes."""
    result = found.result
    arrays: dict[str, NDArray[Any]] = {
        "clump": found.clump,
        **{f"candidate_{name}": values for name, values in found.candidates.to_arrays().items()},
        "accepted": found.accepted,
        "places": found.places,
        "members": np.array([member for cell in found.cells for member in cell], np.int64),
        "counts": np.array([len(cell) for cell in found.cells], np.int64),
        "seeds": result.seeds,
        "radii": result.radii,
        "owner": result.clump,
        "nuclei": np.zeros(result.shape, np.int32) if result.nuclei is None else result.nuclei,
    }
    if result.second_nuclei is not None:
        arrays["second"] = result.second_nuclei
    if result.nucleus_probability is not None:
        arrays["probability"] = result.nucleus_probability
    facts = {
        "format": _FORMAT,
        "version": _VERSION,
        "origin": origin,
        "statistics": found.statistics.to_record(),
        "clumps": [[record.size, list(record.history), record.stopped] for record in result.clumps],
    }
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    with atomic_file(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_found(path: Path) -> tuple[Found, dict[str, Any]]:
    """Read the file, and what it follows from: digests of the image and the models, and the options.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is damaged, or of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays: dict[str, Any] = {name: file[name] for name in file.files}
        facts = json.loads(arrays["facts"].tobytes())
        if (facts["format"], facts["version"]) != (_FORMAT, _VERSION):
            raise ValueError("it is of another version")
        candidates = Spots.from_arrays(
            {name.removeprefix("candidate_"): values for name, values in arrays.items() if "candidate_" in name}
        )
        ends = np.cumsum(arrays["counts"])[:-1]
        cells = [tuple(part.tolist()) for part in np.split(arrays["members"], ends)] if len(arrays["counts"]) else []
        left = np.setdiff1d(np.arange(len(candidates)), arrays["members"])
        classified = "probability" in arrays
        result = Segmentation(
            (arrays["clump"].shape[0], arrays["clump"].shape[1]),
            arrays["seeds"],
            arrays["radii"],
            arrays["owner"],
            tuple(ClumpRecord(size, tuple(history), stopped) for size, history, stopped in facts["clumps"]),
            arrays["nuclei"],
            arrays.get("second"),
            arrays.get("probability"),
            describe_others(candidates.choose(left)).sort() if classified else None,
            ImageStatistics.from_record(facts["statistics"]),
        )
        found = Found(arrays["clump"], candidates, arrays["accepted"], arrays["places"], cells, result)
        return found, facts["origin"]
    except FileNotFoundError:
        raise
    except (OSError, *BROKEN) as error:
        raise ValueError(f"{path} is damaged ({reason_of(error)}); remove it, and it is made anew") from error
