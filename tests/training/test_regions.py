"""Training, export and inference together, on a network too small and too briefly taught to be of use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from declump import simulate
from declump.datasets import AnnotatedImage
from declump.regions import find_regions
from declump.regions.inference import _tiles, open_region_model, region_maps

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")

from declump.regions.channels import to_channels  # noqa: E402
from declump.training.checkpoint import load_network  # noqa: E402
from declump.training.export import export  # noqa: E402
from declump.training.loop import fit  # noqa: E402
from declump.training.regions import lesson  # noqa: E402
from declump.training.regions.batches import WINDOW, draw_batch  # noqa: E402
from declump.training.regions.network import FREE_AXES, TRIED, RegionNetwork  # noqa: E402
from declump.training.regions.targets import (  # noqa: E402
    BORDER,
    IGNORED,
    Example,
    centre_map,
    make_example,
    simulate_examples,
)
from declump.training.schedule import Schedule  # noqa: E402


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return simulate_examples(3, seed=0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("model") / "regions.onnx"
    export(RegionNetwork(), path, {"data": "none"}, shape=TRIED, free=FREE_AXES)
    return path


def test_targets_say_what_is_where() -> None:
    smear = simulate.smear((200, 220), cells=4, overlap=0.5, rng=2)
    example = make_example(smear)
    np.testing.assert_array_equal(example.classes > 0, smear.clump)
    np.testing.assert_array_equal(example.classes == 2, smear.nuclei.any(axis=0))
    np.testing.assert_array_equal(example.layers, np.minimum(smear.cells.sum(axis=0), 3))


def test_what_annotators_leave_out_at_the_border_is_not_taught() -> None:
    smear = simulate.smear((200, 220), cells=4, overlap=0.5, rng=2)
    labels = np.max(smear.nuclei * np.arange(1, 5)[:, None, None], axis=0).astype(np.int32)
    example = make_example(AnnotatedImage("drawn", smear.image, smear.cells, labels, smear.seeds))
    ignored = example.classes == IGNORED
    assert ignored[0].any() and not ignored[BORDER:-BORDER, BORDER:-BORDER].any()
    np.testing.assert_array_equal(example.classes == 2, labels > 0)
    answer, maps = torch.zeros(1, 8, 200, 220), torch.from_numpy(example.classes)[None].long()
    near, layers = torch.zeros(1, 200, 220), torch.from_numpy(example.layers)[None].long()
    told = lesson._loss(answer, maps, near, layers)
    answer[:, :3, ignored] = torch.randn(1, 3, int(ignored.sum()))
    torch.testing.assert_close(lesson._loss(answer, maps, near, layers), told)


def test_nearness_is_one_at_the_centre_and_a_third_at_the_rim() -> None:
    rows, columns = np.mgrid[:60, :70]
    near = centre_map((np.hypot(rows - 30, columns - 33) <= 12)[None])
    assert near[30, 33] == pytest.approx(1)
    assert near[30, 45] == pytest.approx(1 / 3, abs=0.03)
    assert not near[30, 53:].any()


def test_a_batch_follows_from_its_seed_and_keeps_answers_in_range(examples: list[Example]) -> None:
    images, classes, near, layers = draw_batch([examples], 3, seed=5)
    assert images.shape == (3, 3, WINDOW, WINDOW)
    assert torch.isfinite(images).all()
    assert set(classes.unique().tolist()) <= {0, 1, 2}
    assert set(layers.unique().tolist()) <= {0, 1, 2, 3}
    assert float(near.min()) >= 0 and float(near.max()) <= 1
    again = draw_batch([examples], 3, seed=5)
    assert all(torch.equal(one, two) for one, two in zip((images, classes, near, layers), again, strict=True))
    assert not torch.equal(draw_batch([examples], 3, seed=6)[0], images)


@pytest.mark.slow
def test_training_learns_and_an_interrupted_one_ends_alike(
    examples: list[Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("declump.training.loop.CHECK_EVERY", 2)
    whole, curve = fit(lesson.LESSON, [examples], examples[:1], Schedule(4, 2, seed=1))
    assert [point["step"] for point in curve] == [2, 4]
    assert curve[-1]["loss"] < curve[0]["loss"]

    class Interrupted(Exception):
        pass

    def stop(step: int, steps: int, figures: dict[str, float]) -> None:
        if step == 3:
            raise Interrupted

    checkpoint = tmp_path / "training.zip"
    with pytest.raises(Interrupted):
        fit(lesson.LESSON, [examples], examples[:1], Schedule(4, 2, seed=1, checkpoint=checkpoint, progress=stop))
    resumed, _ = fit(lesson.LESSON, [examples], examples[:1], Schedule(4, 2, seed=1, checkpoint=checkpoint))
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(resumed.state_dict()[name], value)


def test_a_training_can_begin_with_the_network_of_another(examples: list[Example], tmp_path: Path) -> None:
    checkpoint = tmp_path / "training.zip"
    taught, _ = fit(lesson.LESSON, [examples], examples[:1], Schedule(2, 1, checkpoint=checkpoint))
    for name, value in load_network(checkpoint).items():
        torch.testing.assert_close(taught.state_dict()[name], value)
    further, _ = fit(lesson.LESSON, [examples], [], Schedule(1, 1, start=checkpoint))
    fresh, _ = fit(lesson.LESSON, [examples], [], Schedule(1, 1))
    key = "answer.weight"
    distances = [float((net.state_dict()[key] - taught.state_dict()[key]).abs().max()) for net in (further, fresh)]
    assert distances[0] < distances[1]
    checkpoint.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="no checkpoint"):
        fit(lesson.LESSON, [examples], [], Schedule(1, 1, start=checkpoint))
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        fit(lesson.LESSON, [examples], [], Schedule(1, 1, start=tmp_path / "nowhere.zip"))


def test_torch_and_onnx_agree_on_any_size(model: Path) -> None:
    torch.manual_seed(0)
    network = RegionNetwork().eval()
    image = simulate.smear((150, 131), cells=3, rng=1).image
    channels = to_channels(image)
    maps = region_maps(channels, open_region_model(model))
    padded = np.pad(channels, ((0, 0), (0, 10), (0, 13)), mode="edge")
    with torch.no_grad():
        answer = network(torch.from_numpy(padded)[None])[0, :, :150, :131].numpy()
    np.testing.assert_allclose(maps.centre_map, np.clip(answer[3], 0, 1), atol=1e-4)
    np.testing.assert_allclose(maps.classes.sum(axis=0), 1, atol=1e-5)
    np.testing.assert_allclose(maps.layers.sum(axis=0), 1, atol=1e-5)


def test_tiles_show_no_seams(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    channels = to_channels(simulate.smear((400, 430), cells=8, rng=1).image)
    whole = region_maps(channels, open_region_model(model))
    monkeypatch.setattr("declump.regions.inference.MARGIN", 128)
    monkeypatch.setattr("declump.regions.inference.TILE", 336)
    monkeypatch.setattr("declump.regions.inference.WHOLE", 336)
    tiled = region_maps(channels, open_region_model(model))
    assert np.abs(whole.classes - tiled.classes).max() < 0.02


@pytest.mark.parametrize("extent", [1, 1536, 1537, 1791, 3000, 10_007])
def test_tiles_answer_for_every_pixel_once(extent: int) -> None:
    tiles = list(_tiles(extent))
    assert np.array_equal(np.concatenate([np.arange(extent)[inner] for _, inner in tiles]), np.arange(extent))
    assert all(outer.start <= inner.start and inner.stop <= outer.stop for outer, inner in tiles)


def test_regions_of_a_model_have_layers(model: Path) -> None:
    regions = find_regions(simulate.smear((160, 160), cells=3, rng=1).image, model=model)
    assert regions.layers is not None
    assert regions.layers.min() >= 0 and regions.layers.max() <= 3


@pytest.mark.parametrize("content", [b"", b"no model"])
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    path, image = tmp_path / "model.onnx", simulate.smear((64, 64), cells=1, rng=1).image
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a region model"):
        find_regions(image, model=path)
    with pytest.raises(FileNotFoundError, match="no region model"):
        find_regions(image, model=tmp_path / "nowhere.onnx")
