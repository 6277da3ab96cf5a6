"""Training, export and proposals together, on a network too briefly taught to be of use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from declump import Regions, simulate

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")

from declump.evidence.proposals import propose_rays  # noqa: E402
from declump.evidence.windows import ANGLES, CHANNELS, DEPTHS, LEAD_CHANNEL, STEP, View, WindowLayout  # noqa: E402
from declump.models import model_path, read_card  # noqa: E402
from declump.simulate import Smear  # noqa: E402
from declump.training.export import export  # noqa: E402
from declump.training.loop import fit  # noqa: E402
from declump.training.rays import lesson  # noqa: E402
from declump.training.rays.batches import DrawnCell, draw_batch, sample_squeezed  # noqa: E402
from declump.training.rays.examples import RayExample, make_example, true_radii  # noqa: E402
from declump.training.rays.network import FREE_AXES, TRIED, Proposer, RayNetwork, moments  # noqa: E402
from declump.training.schedule import Schedule  # noqa: E402


def disc_smear(seed: tuple[float, float], radius: float, shape: tuple[int, int] = (200, 240)) -> Smear:
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    distance = np.hypot(rows - seed[0], columns - seed[1])
    image = np.where(distance < radius, 180, 230).astype(np.uint8)
    return Smear(image, (distance < radius)[None], (distance < 8)[None], np.array([seed], float))


@pytest.fixture(scope="module")
def examples() -> list[RayExample]:
    smears = [simulate.smear((200, 220), cells=4, overlap=0.5, rng=index) for index in range(2)]
    return [make_example(made, [Regions(made.clump, made.nuclei.any(axis=0))]) for made in smears]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("model") / "rays.onnx"
    export(Proposer(RayNetwork(), 1.5), path, {"data": "none"}, shape=TRIED, free=FREE_AXES)
    return path


def test_true_radii_of_a_disc_and_of_one_cut_by_the_border() -> None:
    radii, known = true_radii(make_example(disc_smear((100, 120), 60)), 0, np.array([100.0, 120.0]), View(STEP))
    np.testing.assert_allclose(radii * STEP, 60, atol=1)
    assert known.all()
    radii, known = true_radii(make_example(disc_smear((30, 120), 60)), 0, np.array([30.0, 120.0]), View(STEP))
    up = 3 * ANGLES // 4
    assert not known[up] and known[: ANGLES // 2].all()
    np.testing.assert_allclose(radii[known] * STEP, 60, atol=1)


def test_a_view_from_nearer_counts_more_steps() -> None:
    radii, _ = true_radii(make_example(disc_smear((100, 120), 60)), 0, np.array([100.0, 120.0]), View(STEP / 1.25))
    np.testing.assert_allclose(radii * STEP / 1.25, 60, atol=1)


def test_a_disc_seen_stretched_is_squeezed_along_the_first_row() -> None:
    seen = View(STEP, stretch=1.25)
    radii, _ = true_radii(make_example(disc_smear((100, 120), 60)), 0, np.array([100.0, 120.0]), seen)
    np.testing.assert_allclose(radii[[0, ANGLES // 4, ANGLES // 2]] * STEP, [60 / 1.25, 60 * 1.25, 60 / 1.25], atol=1.5)


def test_the_lead_over_other_seeds_is_that_of_the_distances_seen() -> None:
    made = simulate.smear((200, 220), cells=2, overlap=0.5, rng=3)
    example, pose = make_example(made), View(STEP, stretch=1.3)
    view = example.views[0]
    seen = sample_squeezed(DrawnCell(example, view, 0, 1, view.seeds[0], pose, np.zeros(0, np.int64)), view.seeds[1:])
    apart = np.hypot(*(pose.unstretch(view.seeds[1:], view.seeds[0])[0] - view.seeds[0]))
    towards = np.argmin(seen[LEAD_CHANNEL].min(axis=1))
    lost = np.flatnonzero(seen[LEAD_CHANNEL, towards] < 0)[0]
    np.testing.assert_allclose((lost + 0.5) * STEP, apart / 2, atol=1.5 * STEP)


def test_a_batch_follows_from_its_seed(examples: list[RayExample]) -> None:
    windows, radii, counted = draw_batch([examples], 3, seed=5)
    assert windows.shape == (3, CHANNELS, ANGLES, DEPTHS) and radii.shape == counted.shape == (3, ANGLES)
    assert torch.isfinite(windows).all() and (radii[counted] > 0).all()
    again = draw_batch([examples], 3, seed=5)
    assert all(torch.equal(one, two) for one, two in zip((windows, radii, counted), again, strict=True))


def test_moments_of_a_sure_and_of_an_undecided_answer() -> None:
    scores = torch.full((1, 2, DEPTHS), -50.0)
    scores[0, 0, 30] = 0
    scores[0, 1, [20, 40]] = 0
    mean, deviation = moments(scores)
    np.testing.assert_allclose(mean, [[30.5, 30.5]], atol=1e-3)
    np.testing.assert_allclose(deviation, [[np.sqrt(1 / 12), np.sqrt(100 + 1 / 12)]], atol=1e-3)


def test_training_learns(examples: list[RayExample], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("declump.training.loop.CHECK_EVERY", 6)
    _, curve = fit(lesson.LESSON, [examples], examples[:1], Schedule(12, 3, seed=1))
    assert curve[-1]["loss"] < curve[0]["loss"]
    assert 0 < curve[-1]["dice"] <= 1 and curve[-1]["doubt_factor"] > 0


def test_calibration_makes_two_thirds_of_the_rays_lie_within_the_doubt() -> None:
    rng = np.random.default_rng(0)
    doubts = np.exp(rng.uniform(0, 2, 20_000)).astype(np.float32)
    errors = np.abs(0.5 * doubts**1.6 * rng.normal(size=doubts.shape)).astype(np.float32)
    factor, power = lesson.calibrate(errors, doubts)
    assert factor == pytest.approx(0.5, rel=0.1) and power == pytest.approx(1.6, rel=0.05)
    assert np.mean(errors < factor * doubts**power) == pytest.approx(0.6827, abs=0.02)
    assert lesson.calibrate(np.full(5, 2, np.float32), np.ones(5, np.float32)) == pytest.approx((2, 0))


def test_proposals_come_in_pixels_whatever_their_number(model: Path) -> None:
    made = simulate.smear((200, 220), cells=4, overlap=0.3, rng=3)
    regions = Regions(made.clump, made.nuclei.any(axis=0))
    evidence = propose_rays(made.image, regions, model=model)
    assert evidence.radii is not None and evidence.radii_std is not None
    assert evidence.radii.shape == evidence.radii_std.shape == (len(regions.seeds), ANGLES)
    assert (evidence.radii < DEPTHS * STEP).all()
    nothing = Regions(np.zeros((50, 50), bool), np.zeros((50, 50), np.int32))
    assert propose_rays(np.full((50, 50), 200, np.uint8), nothing, model=model).radii.shape == (0, ANGLES)


def test_proposals_follow_the_resolution(model: Path) -> None:
    """An image of twice the size, with its diameter given, gets outlines of twice the size."""
    made = simulate.smear((150, 160), cells=2, overlap=0.3, stain="grey", rng=3)
    large = np.kron(made.image, np.ones((2, 2), np.uint8))
    regions = [
        Regions(clump, nuclei)
        for clump, nuclei in (
            (made.clump, made.nuclei.any(axis=0)),
            (np.kron(made.clump, np.ones((2, 2), bool)), np.kron(made.nuclei.any(axis=0), np.ones((2, 2), bool))),
        )
    ]
    small = propose_rays(made.image, regions[0], model=model, diameter=22).radii
    twice = propose_rays(large, regions[1], model=model, diameter=44).radii
    np.testing.assert_allclose(twice, 2 * small, rtol=0.1)


def test_the_card_tells_the_windows(model: Path) -> None:
    card = read_card(model)
    assert card["data"] == "none" and card["window step"] == STEP
    assert WindowLayout.from_card(card) == WindowLayout(ANGLES, DEPTHS, STEP, card["nucleus diameter"])


def test_another_model_is_refused(tmp_path: Path) -> None:
    made = simulate.smear((100, 100), cells=1, rng=3)
    regions = Regions(made.clump, made.nuclei.any(axis=0))
    with pytest.raises(ValueError, match="not a ray model"):
        propose_rays(made.image, regions, model=model_path("default", "regions.onnx"))
    with pytest.raises(FileNotFoundError, match="no ray model"):
        propose_rays(made.image, regions, model=tmp_path / "nowhere.onnx")
