"""The ray network before one image: every window is run once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump import simulate
from declump.evidence.collect import collect_evidence
from declump.evidence.proposals import RayProposer, propose_rays
from declump.evidence.windows import ANGLES, CHANNELS, DEPTHS, WindowLayout
from declump.models import Model, model_path, open_model
from declump.records.regions import Regions
from declump.regions.channels import ImageChannels

SMEAR = simulate.smear((300, 900), cells=6, clumps=3, overlap=0.4, stain="grey", rng=5)
LABELS = np.max(SMEAR.nuclei * np.arange(1, 7)[:, None, None], axis=0).astype(np.int32)
REGIONS = Regions(SMEAR.clump, LABELS)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Windows that go through a network."""
    windows: list[np.ndarray] = []
    run = Model.run

    def count(model: Model, window: np.ndarray) -> np.ndarray:
        windows.append(window)
        return run(model, window)

    monkeypatch.setattr(Model, "run", count)
    return windows


def without(number: int) -> Regions:
    return replace(REGIONS, nuclei=np.where(number == LABELS, 0, LABELS))


def test_only_windows_that_show_a_change_are_run_again(counted: list[np.ndarray]) -> None:
    proposer = RayProposer(ImageChannels(SMEAR.image))
    first = proposer.propose(REGIONS)
    assert len(counted) == len(REGIONS.seeds)
    again = proposer.propose(REGIONS)
    assert len(counted) == len(REGIONS.seeds) and again.radii.tobytes() == first.radii.tobytes()
    fewer = proposer.propose(without(1))
    near = np.hypot(*(REGIONS.seeds[1:] - REGIONS.seeds[0]).T) < 2 * 2 * DEPTHS
    assert 0 < len(counted) - len(REGIONS.seeds) <= near.sum() < len(near)
    fresh = propose_rays(SMEAR.image, without(1))
    assert fewer.radii.tobytes() == fresh.radii.tobytes() and fewer.radii_std.tobytes() == fresh.radii_std.tobytes()
    assert fewer.radii[~near].tobytes() == first.radii[1:][~near].tobytes()


def test_another_resolution_is_another_window(counted: list[np.ndarray]) -> None:
    proposer = RayProposer(ImageChannels(SMEAR.image), diameter=22)
    proposer.propose(REGIONS)
    larger = replace(proposer, diameter=30)
    assert larger.propose(REGIONS).radii.tobytes() == propose_rays(SMEAR.image, REGIONS, diameter=30).radii.tobytes()
    assert len(counted) == 3 * len(REGIONS.seeds)


def test_an_answer_does_not_depend_on_what_else_goes_through_the_network(counted: list[np.ndarray]) -> None:
    RayProposer(ImageChannels(SMEAR.image)).propose(REGIONS)
    model = open_model(model_path("default", "rays.onnx"), "ray model")
    alone = np.stack([model.run(window) for window in list(counted)])
    (together,) = model.session.run(None, {"image": np.stack(counted[: len(alone)])})
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-4)


def test_rays_are_asked_for_only_where_they_are_evidence() -> None:
    nowhere = RayProposer(ImageChannels(SMEAR.image), "nowhere.onnx")
    assert collect_evidence(REGIONS, "clump", nowhere) is None
    with pytest.raises(FileNotFoundError, match="no ray model"):
        collect_evidence(REGIONS, "rays", nowhere)


def test_the_card_of_a_model_tells_its_windows() -> None:
    assert WindowLayout.from_card({}) == WindowLayout(ANGLES, DEPTHS, 2.0, 22.0)
    other = WindowLayout(angles=32, depths=40, step=3.0, nucleus_diameter=30.0)
    assert WindowLayout.from_card({"seed": 1, **other.to_card()}) == other
    view = other.view(60.0)
    assert (view.step, view.angles, view.depths) == (6.0, 32, 40)
    open_model(model_path("default", "rays.onnx"), "ray model").check_input(CHANNELS, ANGLES, DEPTHS)
