"""The mathematics of the trials of hidden outlines (benchmarks/ray_ideas.py)."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the trials train networks, which needs the extra 'train'")


@pytest.fixture
def ideas(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    import ray_ideas

    return ray_ideas


def energy(ideas: ModuleType, likely: np.ndarray, width: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Minus the logarithm of the smoothed distribution, as it is defined."""
    distances = ideas.STEP * (np.arange(ideas.DEPTHS) + 0.5)
    kernel = np.exp(-0.5 * ((radii[..., None] - distances) / width[..., None]) ** 2)
    smooth = (likely * kernel).sum(axis=2) / (np.sqrt(2 * np.pi) * width)
    return -np.log((1 - ideas.FLOOR) * smooth + ideas.FLOOR / (ideas.STEP * ideas.DEPTHS))


def test_the_quadratic_touches_the_whole_distribution_from_above(ideas: ModuleType) -> None:
    rng = np.random.default_rng(0)
    likely = rng.dirichlet(np.full(ideas.DEPTHS, 0.05), (3, 8))
    width, present = rng.uniform(2, 9, (3, 8)), rng.uniform(10, 140, (3, 8))
    radii, std = ideas.touch_term(likely, width, present)
    step = 1e-4
    slope = (energy(ideas, likely, width, present + step) - energy(ideas, likely, width, present - step)) / (2 * step)
    np.testing.assert_allclose((present - radii) / std**2, slope, rtol=1e-4, atol=1e-6)
    for elsewhere in rng.uniform(5, 150, (20, 3, 8)):
        rise = 0.5 * (((elsewhere - radii) / std) ** 2 - ((present - radii) / std) ** 2)
        higher = energy(ideas, likely, width, elsewhere) - energy(ideas, likely, width, present)
        assert (higher <= rise + 1e-9).all()


def test_a_team_says_the_same_of_a_turned_or_mirrored_window(ideas: ModuleType) -> None:
    torch.manual_seed(0)
    windows = torch.rand(2, ideas.CHANNELS, ideas.ANGLES, ideas.DEPTHS)

    def network(seen: torch.Tensor) -> torch.Tensor:
        return seen[:, 0] - 2 * seen[:, 3] + torch.arange(ideas.DEPTHS) / 40

    said = ideas.ask_team([network], windows)
    torch.testing.assert_close(said, torch.softmax(network(windows), 2))
