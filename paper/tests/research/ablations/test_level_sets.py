from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump.evolution import energy
from declump.evolution.settings import SETTINGS
from declump.records.clump import Clump, split_clumps
from declump.shapes import contours
from declump.shapes.prior import ShapePrior
from declump_paper.research.ablations.level_sets import evolve_clump_by_level_sets

JOINT, PAPER = SETTINGS["joint"], SETTINGS["paper"]


def ellipse(shape: tuple[int, int], row: float, column: float, long: float, short: float, turn: float) -> np.ndarray:
    rows, columns = np.indices(shape) - np.array([row, column]).reshape(2, 1, 1)
    along = columns * np.cos(turn) + rows * np.sin(turn)
    across = rows * np.cos(turn) - columns * np.sin(turn)
    return (along / long) ** 2 + (across / short) ** 2 <= 1


@pytest.fixture(scope="module")
def ellipses() -> ShapePrior:
    """Ellipses in all directions, mean radius 20 pixels; no reach."""
    angles = 2 * np.pi * np.arange(72) / 72
    turns = np.linspace(0, np.pi, 24, endpoint=False)
    radii = [
        20 / np.hypot(np.cos(angles - turn) / ratio, np.sin(angles - turn) * ratio)
        for turn in turns
        for ratio in (1.05, 1.2, 1.4)
    ]
    return ShapePrior.fit(radii)


def clump_of(cells: np.ndarray, room: int = 40) -> Clump:
    seeds = [[part.mean() for part in np.nonzero(cell)] for cell in cells]
    (clump,) = split_clumps(cells.any(axis=0), seeds)
    return clump.with_room(room)


def scale_of(cells: np.ndarray, prior: ShapePrior) -> float:
    return float(np.sqrt(cells.sum(axis=(1, 2)).mean() / contours.area(prior.mean)))


def dices(clump: Clump, radii: np.ndarray, cells: np.ndarray) -> list[float]:
    found = [
        contours.to_mask(seed, outline, cells.shape[1:])
        for seed, outline in zip(clump.seeds + clump.origin, radii, strict=True)
    ]
    return [2 * (a & b).sum() / (a.sum() + b.sum()) for a, b in zip(found, cells, strict=True)]


TWO = np.stack([ellipse((110, 150), 55, 53, 32, 32, 0), ellipse((110, 150), 55, 97, 32, 32, 0)])
THREE = np.stack(
    [ellipse((160, 190), *cell) for cell in [(63, 67, 42, 32, 0.4), (67, 123, 40, 33, 2.4), (110, 95, 40, 31, 1.3)]]
)


@pytest.mark.parametrize(("cells", "least"), [(TWO, 0.95), (THREE, 0.92)], ids=["two discs", "three ellipses"])
def test_known_clumps(ellipses: ShapePrior, cells: np.ndarray, least: float) -> None:
    clump = clump_of(cells)
    result = evolve_clump_by_level_sets(clump, ellipses, JOINT, scale=scale_of(cells, ellipses))
    assert min(dices(clump, result.radii, cells)) > least
    assert result.history[-1] < 0.03 * clump.size
    assert result.history[-1] == energy.hard_discrepancy(clump.mask, clump.seeds, result.radii)
    assert np.abs(result.coefficients).max() <= JOINT.box
    assert result.stopped in ("no decrease", "explained")


def test_one_cell_explains_its_clump(ellipses: ShapePrior) -> None:
    cells = ellipse((90, 100), 45, 50, 34, 24, 0.7)[None]
    clump = clump_of(cells)
    result = evolve_clump_by_level_sets(clump, ellipses, JOINT, scale=scale_of(cells, ellipses))
    assert dices(clump, result.radii, cells)[0] > 0.97


def test_the_outline_is_not_bound_to_the_hypotheses(ellipses: ShapePrior) -> None:
    """What the ablation takes away: a square is no ellipse, and is followed all the same."""
    square = np.zeros((1, 110, 110), bool)
    square[0, 30:80, 30:80] = True
    clump = clump_of(square)
    scale = scale_of(square, ellipses)
    result = evolve_clump_by_level_sets(clump, ellipses, JOINT, scale=scale)
    hypothesis = result.scales[0] * scale * ellipses.instance(result.coefficients[0] * np.sqrt(ellipses.variances))
    level_set = dices(clump, result.radii, square)[0]
    assert level_set > dices(clump, hypothesis[None], square)[0] + 0.02


def test_cells_cut_by_the_image_border_reach_beyond_it(ellipses: ShapePrior) -> None:
    cells = TWO[:, 35:]
    clump = clump_of(cells)
    result = evolve_clump_by_level_sets(clump, ellipses, JOINT, scale=scale_of(TWO, ellipses))
    assert min(dices(clump, result.radii, cells)) > 0.9
    upwards = result.radii[:, 54]  # Ray 54 of 72 points to row -1.
    assert (upwards > clump.seeds[:, 0] + 0.5).all()


def test_the_literal_setting_stops_when_the_clump_is_explained(ellipses: ShapePrior) -> None:
    clump = clump_of(TWO)
    result = evolve_clump_by_level_sets(clump, ellipses, PAPER, scale=scale_of(TWO, ellipses))
    assert result.stopped == "explained" and result.history[-1] <= 0.05 * clump.size
    assert all(energy > 0.05 * clump.size for energy in result.history[:-1])


def test_the_number_of_rounds_is_bound(ellipses: ShapePrior) -> None:
    clump = clump_of(THREE)
    settings = replace(JOINT, steps=2, min_decrease=0.0)
    result = evolve_clump_by_level_sets(clump, ellipses, settings, scale=1.2)
    assert result.stopped == "bound" and len(result.history) == 3


def test_the_same_input_gives_the_same_bytes() -> None:
    clump, prior = clump_of(THREE), ShapePrior.load("default")
    first, second = (evolve_clump_by_level_sets(clump, prior, JOINT, scale=scale_of(THREE, prior)) for _ in range(2))
    assert first.radii.tobytes() == second.radii.tobytes() and first.history == second.history
