"""The mathematics of the trials of hidden outlines (benchmarks/ray_ideas.py)."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import declump

torch = pytest.importorskip("torch", reason="the trials train networks, which needs the extra 'train'")


@pytest.fixture
def ideas(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    import ray_ideas

    return ray_ideas


def make_example(ideas: ModuleType) -> tuple[Any, np.ndarray]:
    """A simulated smear as an image with true regions, and the radii (N, A) of its cells."""
    from declump.training.rays import examples

    example = examples.make_example(declump.simulate.smear((200, 220), cells=4, overlap=0.5, rng=3))
    (view,) = example.views
    pose = ideas.View(ideas.STEP)
    radii = [examples.true_radii(example, cell, seed, pose)[0] for cell, seed in enumerate(view.seeds)]
    return view, ideas.STEP * np.array(radii, float)


def begin(ideas: ModuleType) -> Any:
    """A ray network that has learnt nothing."""
    return ideas.KnownNetwork(ideas.RayNetwork().eval(), (1.0, 1.0))


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


@pytest.mark.parametrize("mirrored", [False, True])
def test_points_of_a_window_are_placed_where_they_are(ideas: ModuleType, mirrored: bool) -> None:
    pose = ideas.View(1.7, 0.9, mirrored, stretch=1.2)
    seed = np.array([40.0, 55.0])
    placed = ideas.place_points(ideas.sample_points(seed, pose), seed, pose)
    window = torch.rand(1, 1, ideas.ANGLES, ideas.DEPTHS)
    wider = torch.cat([window[:, :, -1:], window, window[:, :, :1]], 2)
    grid = torch.from_numpy(placed).float().permute(1, 2, 0)[None]
    read = torch.nn.functional.grid_sample(wider, grid, align_corners=False)
    torch.testing.assert_close(read, window, atol=1e-3, rtol=1e-3)


def test_cells_hear_of_each_other_where_they_meet(ideas: ModuleType) -> None:
    torch.manual_seed(0)
    known = ideas.RayNetwork().eval()
    network = ideas.JointNetwork(known).eval()
    seeds = np.array([[50.0, 50.0], [50.0, 90.0], [90.0, 50.0], [400.0, 400.0]])
    places = [(seed, ideas.View(ideas.STEP)) for seed in seeds]
    windows = torch.rand(ideas.TOGETHER, ideas.CHANNELS, ideas.ANGLES, ideas.DEPTHS)
    shown = torch.stack([ideas.show_places(window, own, places) for own, window in enumerate(windows)])
    with torch.no_grad():
        torch.testing.assert_close(network(shown), known(windows), msg="at first every cell answers for itself")
        torch.nn.init.normal_(network.change.weight)
        before = network(shown)
        shown[1, : ideas.CHANNELS] = torch.rand(ideas.CHANNELS, ideas.ANGLES, ideas.DEPTHS)
        after = network(shown)
    assert not torch.allclose(before[0], after[0]), "the neighbour is heard"
    assert torch.equal(before[3], after[3]), "one too far away is not"


def test_what_is_shown_of_a_first_evolution_lies_nearer_to_the_truth(ideas: ModuleType) -> None:
    view, true = make_example(ideas)
    first = true * np.random.default_rng(2).normal(1, 0.25, (len(true), 1)), np.full(true.shape, 12.0)
    trial = ideas.EvolvedLook(ideas.Start(begin(ideas), declump.ShapePrior.load("default")))
    evolved, std = trial.finish_first(first, view)
    assert np.abs(evolved - true).mean() < 0.7 * np.abs(first[0] - true).mean()
    np.testing.assert_array_equal(std, first[1])


def test_images_that_teach_are_first_seen_by_a_network_that_does_not_know_them(ideas: ModuleType) -> None:
    torch.manual_seed(0)
    view, _ = make_example(ideas)
    known, stranger = begin(ideas), begin(ideas)
    prior, rng = declump.ShapePrior.load("default"), np.random.default_rng(0)
    shown = ideas.EvolvedLook(ideas.Start(known, prior, {view: stranger})).draw_first(view, rng)
    asked = ideas.look(stranger.network, view, lambda index: ideas.see(view, index))
    evolved = ideas.EvolvedLook(ideas.Start(stranger, prior)).finish_first(asked, view)
    np.testing.assert_allclose(shown[0], evolved[0])
