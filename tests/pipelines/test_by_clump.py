"""With the statistics of an image every clump is segmented by itself: a part of an image gives what the whole gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import declump
from declump import simulate
from declump.pipelines.by_clump import find_owner
from declump.pipelines.cells import divide_image
from declump.pipelines.cutting import Limits
from declump.pipelines.solve import CellSolver, Decisions, solve_clump
from declump.regions import RegionOptions

Labels, Pixels = NDArray[np.int64], NDArray[np.bool_]
SMEAR = simulate.smear((640, 768), cells=14, clumps=5, rng=3)
KNOWN = declump.ImageStatistics(222.99, None, 22.0, 0.947, 358.6, 11126.0)


@pytest.fixture(scope="module")
def whole() -> declump.Segmentation:
    return declump.segment(SMEAR.image, statistics=KNOWN)


def test_cells_are_found_as_well_as_without_statistics(whole: declump.Segmentation) -> None:
    plain = declump.segment(SMEAR.image)
    assert declump.score(SMEAR.cells, whole.masks).dice_all > declump.score(SMEAR.cells, plain.masks).dice_all - 0.03
    assert whole.nuclei is not None and whole.nuclei.max() == len(whole) and whole.nucleus_probability is not None
    assert len(whole.clumps) == whole.clump.max() + 1 and whole.others is not None


def test_a_part_gives_what_the_whole_gives(whole: declump.Segmentation) -> None:
    # It shows the clump at the top whole, with all that is looked at round it.
    part = declump.segment(SMEAR.image[:448, 64:], statistics=KNOWN)
    known = {tuple(seed): radii.tobytes() for seed, radii in zip(whole.seeds, whole.radii, strict=True)}
    told = {tuple(seed + np.array([0, 64])): r.tobytes() for seed, r in zip(part.seeds, part.radii, strict=True)}
    at_top = [seed for seed in known if seed[0] < 200 and 250 < seed[1] < 560]
    assert len(at_top) == 3 and all(told[seed] == known[seed] for seed in at_top)


def test_a_clump_above_the_limits_is_cut(whole: declump.Segmentation) -> None:
    options, limits = RegionOptions(), Limits(cells=4, side=3072)
    division = divide_image(SMEAR.image, options, options, CellSolver.from_names(), statistics=KNOWN, limits=limits)
    cut = division.solve().assemble()
    assert abs(len(cut) - len(whole)) <= 2 and len(cut.clumps) > len(whole.clumps)
    parts = sum(record.size for record in cut.clumps[len(whole.clumps) :])
    assert parts == sum(whole.clumps[n].size for n, record in enumerate(cut.clumps) if record.stopped == "cut") > 0
    kept = {radii.tobytes() for radii in whole.radii} & {radii.tobytes() for radii in cut.radii}
    assert 4 <= len(kept) < len(whole)  # clumps within the limits are as they were


@given(
    arrays(np.int64, (3, 4), elements=st.sampled_from([0, 0, 1, 2, 7, 900_000])),
    arrays(np.bool_, (3, 4)),
)
def test_a_spot_belongs_to_the_first_of_the_clumps_with_most_of_its_pixels(labels: Labels, pixels: Pixels) -> None:
    counts = {number: np.count_nonzero(labels[pixels] == number) for number in (1, 2, 7, 900_000)}
    most = max(counts.values())
    assert find_owner(labels, pixels) == (min(n for n, count in counts.items() if count == most) if most else 0)


def test_statistics_and_known_regions_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="give one of both"):
        declump.segment(SMEAR.image, statistics=KNOWN, regions=declump.Regions(SMEAR.clump, SMEAR.nuclei.any(axis=0)))


def test_solving_again_what_was_decided_gives_the_same_cells() -> None:
    options = RegionOptions()
    division = divide_image(SMEAR.image, options, options, CellSolver.from_names())
    for piece, _, solution in division.solve().parts:
        view, _ = division.view(piece)
        again = solve_clump(view, division.statistics, division.solver, decisions=Decisions(solution.cells))
        assert again.radii.tobytes() == solution.radii.tobytes() and again.record == solution.record
        assert (again.nuclei == solution.nuclei).all() and len(solution) > 0
