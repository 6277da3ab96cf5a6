"""The smear network: its answers, its batches, and that it learns."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from declump.models import open_model  # noqa: E402
from declump.regions.inference import region_maps  # noqa: E402
from declump.simulate import smear  # noqa: E402
from declump.training.export import export  # noqa: E402
from declump.training.smear import frames as told  # noqa: E402
from declump.training.smear.batches import WINDOW, draw_batch  # noqa: E402
from declump.training.smear.frames import Frame, make_marks  # noqa: E402
from declump.training.smear.lesson import lose  # noqa: E402
from declump.training.smear.measure import calibrate, find_unmarked, measure_frames  # noqa: E402
from declump.training.smear.network import FREE_AXES, STEP, TRIED, SmearNetwork  # noqa: E402
from declump.training.smear.sources import from_cells, weak_nuclei  # noqa: E402
from declump.training.smear.train import ask_network  # noqa: E402


@pytest.fixture(scope="module")
def frame():
    return from_cells(smear(cells=6, overlap=0.3, stain="pap", rng=3), "simulated", np.random.default_rng(0))


def test_what_it_says_while_it_learns_is_what_it_says_later():
    network = SmearNetwork().eval()
    image = torch.rand(1, 3, 64, 96)
    with torch.no_grad():
        whole = network(image)
        for module in network.modules():
            module.training = module is network  # the layout alone changes
        learning = network(image)
    fine = torch.nn.functional.pixel_shuffle(torch.nn.functional.pixel_shuffle(learning[:, :32], 2), 2)
    torch.testing.assert_close(fine, whole[:, :2])
    assert learning.shape == (1, 43, 64 // STEP, 96 // STEP)
    assert whole.shape == (1, 13, 64, 96)


def test_exported_it_is_run_as_a_region_model(tmp_path, frame):
    path = tmp_path / "smear.onnx"
    export(SmearNetwork(), path, {}, shape=TRIED, free=FREE_AXES)
    model = open_model(path, "region model")
    assert model.is_smear and model.stride == 32
    maps = region_maps(np.random.default_rng(0).random((3, 70, 90), dtype=np.float32), model)
    assert maps.classes.shape == (3, 70, 90)
    np.testing.assert_allclose(maps.classes.sum(axis=0), 1, atol=1e-5)
    assert maps.centres.shape == (6, 70, 90)


def test_the_same_seed_gives_the_same_batch_and_marks_stay_on_their_nuclei(frame):
    one, other = draw_batch([[frame]], 2, 5), draw_batch([[frame]], 2, 5)
    for first, second in zip(one, other, strict=True):
        assert torch.equal(first, second)
    images, planes, centres, weights, _, _ = one
    assert images.shape == (2, 3, WINDOW, WINDOW)
    nucleus = planes[:, 1, STEP // 2 :: STEP, STEP // 2 :: STEP]
    peaks = (centres[:, 0] == 1) & (weights[:, 0] > 0)
    assert peaks.any()
    # A centre lies in its nucleus, whichever way round the window was turned.
    assert (nucleus[peaks] == 1).float().mean() > 0.9


def test_a_head_learns_nothing_where_nothing_is_known():
    blank = Frame(
        "blank", [np.full((500, 500), 180, np.uint8)], make_marks(np.zeros((0, 2))), np.zeros((500, 500), np.uint8)
    )
    _, *wanted = draw_batch([[blank]], 1, 0)
    answer = torch.randn(1, 43, WINDOW // STEP, WINDOW // STEP, requires_grad=True)
    lose(answer, *wanted).backward()
    assert float(answer.grad.abs().max()) < 1e-6


def test_it_learns(frame):
    torch.manual_seed(0)
    network = SmearNetwork().train()
    optimiser = torch.optim.AdamW(network.parameters(), 2e-3)
    losses = []
    for step in range(6):
        image, *wanted = draw_batch([[frame]], 1, step % 2)
        loss = lose(network(image), *wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert min(losses[4:]) < losses[0]


def test_figures_of_a_network_that_knows_everything(frame):
    maps = ask_network(SmearNetwork(), np.zeros((3, *frame.shape), np.float32))
    rows, columns = np.indices(frame.shape)
    maps.classes[2] = frame.nucleus == 1
    maps.classes[0] = frame.clump != 1
    away = [np.hypot(rows - mark[0], columns - mark[1]) for mark in frame.marks]
    maps.centres[0] = 0.9 * np.exp(-(np.min(away, axis=0) ** 2) / 20)
    figures = measure_frames([frame], lambda _: maps)
    assert figures["f1"] == pytest.approx(1)
    assert figures["clump_dice"] == pytest.approx(1)
    assert len(find_unmarked(frame, maps, 0.5)) == 0


def test_unmarked_nuclei_that_a_teacher_sees_are_unknown():
    spots = np.zeros((60, 100), np.int32)
    spots[10:20, 10:20], spots[10:20, 50:60], spots[40:50, 50:60] = 1, 2, 3
    classes = np.zeros((3, 60, 100), np.uint8)
    classes[2][spots > 0] = 255
    marks = make_marks(np.array([[15, 15]]))
    nucleus = weak_nuclei(marks, {"spots": spots, "probability": np.array([0.9, 0.8, 0.1]), "classes": classes})
    assert (nucleus[spots == 1] == 1).all()
    assert (nucleus[spots == 2] == told.UNKNOWN).all()
    assert marks[0, told.RADIUS] == pytest.approx(np.sqrt(100 / np.pi))


def test_calibrated_scores_are_probabilities(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, (4000, 2))
    right = rng.random(4000) < 1 / (1 + np.exp(-(2 * scores[:, 0] + 0.5 * scores[:, 1] - 1)))
    weights = calibrate(scores, right)
    np.testing.assert_allclose(weights, [2, 0.5, -1], atol=0.25)
    network, image = SmearNetwork().eval(), torch.rand(1, 3, 64, 64)
    with torch.no_grad():
        before = network(image)
        network.calibrate(*weights)
        after = network(image)
    torch.testing.assert_close(after[:, 2], weights[0] * before[:, 2] + weights[1] * before[:, 6] + weights[2])
    torch.testing.assert_close(after[:, 3:], before[:, 3:])
