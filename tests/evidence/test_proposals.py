"""The ray network before one image: every window is run once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import declump
from declump import simulate
from declump.evidence.proposals import RayProposer, propose_rays
from declump.evidence.windows import ANGLES, CHANNELS, DEPTHS, WindowLayout
from declump.models import Model, model_path, open_model
from declump.records.regions import Regions
from declump.regions.channels import to_channels

SMEAR = simulate.smear((300, 900), cells=6, clumps=3, overlap=0.4, stain="grey", rng=5)
LABELS = np.max(SMEAR.nuclei * np.arange(1, 7)[:, None, None], axis=0).astype(np.int32)
REGIONS = Regions(SMEAR.clump, LABELS)
PLANES = to_channels(SMEAR.image)


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


def propose(labels: np.ndarray, answers: dict, diameter: float = 22.0) -> tuple[np.ndarray, np.ndarray]:
    known = Regions(SMEAR.clump, labels)
    proposer = RayProposer(PLANES, SMEAR.clump, diameter, answers=answers)
    names = np.unique(labels[labels > 0]).tolist()
    return proposer.propose(known.nuclei, known.seeds, range(len(known.seeds)), names)


def test_only_windows_that_show_a_change_are_run_again(counted: list[np.ndarray]) -> None:
    answers: dict = {}
    first, _ = propose(LABELS, answers)
    assert len(counted) == len(REGIONS.seeds)
    again, _ = propose(LABELS, answers)
    assert len(counted) == len(REGIONS.seeds) and again.tobytes() == first.tobytes()
    fewer, std = propose(np.where(LABELS == 1, 0, LABELS), answers)
    near = np.hypot(*(REGIONS.seeds[1:] - REGIONS.seeds[0]).T) < 2 * 2 * DEPTHS
    assert 0 < len(counted) - len(REGIONS.seeds) <= near.sum() < len(near)
    fresh = propose_rays(SMEAR.image, replace(REGIONS, nuclei=np.where(LABELS == 1, 0, LABELS)), diameter=22)
    assert fewer.tobytes() == fresh.radii.tobytes() and std.tobytes() == fresh.radii_std.tobytes()
    assert fewer[~near].tobytes() == first[1:][~near].tobytes()


def test_an_answer_does_not_depend_on_what_else_goes_through_the_network(counted: list[np.ndarray]) -> None:
    propose(LABELS, {})
    model = open_model(model_path("default", "rays.onnx"), "ray model")
    alone = np.stack([model.run(window) for window in list(counted)])
    (together,) = model.session.run(None, {"image": np.stack(counted[: len(alone)])})
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-4)


def test_rays_are_asked_for_only_where_they_are_evidence() -> None:
    declump.segment(SMEAR.image, regions=REGIONS, evidence="clump", rays="nowhere.onnx")
    with pytest.raises(FileNotFoundError, match="no ray model"):
        declump.segment(SMEAR.image, regions=REGIONS, evidence="rays", rays="nowhere.onnx")


def test_the_card_of_a_model_tells_its_windows() -> None:
    assert WindowLayout.from_card({}) == WindowLayout(ANGLES, DEPTHS, 2.0, 22.0)
    other = WindowLayout(angles=32, depths=40, step=3.0, nucleus_diameter=30.0)
    assert WindowLayout.from_card({"seed": 1, **other.to_card()}) == other
    view = other.view(60.0)
    assert (view.step, view.angles, view.depths) == (6.0, 32, 40)
    open_model(model_path("default", "rays.onnx"), "ray model").check_input(CHANNELS, ANGLES, DEPTHS)
