"""The published region network: all pixels at once is the same as one patch after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import declump
from declump.models import open_model, read_card
from declump.regions.channels import to_channels
from declump_paper.regions.find import find_classes, find_regions
from support.annotated_smears import annotated

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")

from torch.nn import functional  # noqa: E402

from declump.training import Schedule, train_region_model  # noqa: E402
from declump_paper.training.lesson import LESSON, UNSEEN  # noqa: E402
from declump_paper.training.network import GAIN, LEVEL, MAPS, PATCH, SCALES, TAUGHT, PublishedNetwork  # noqa: E402


@pytest.fixture(scope="module")
def network() -> PublishedNetwork:
    torch.manual_seed(0)
    return PublishedNetwork().eval()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "published.onnx"
    curve = train_region_model(
        [[annotated(0), annotated(1)]],
        path,
        Schedule(2, 1, seed=3),
        held_out=[annotated(1).name],
        simulated=0,
        lesson=LESSON,
    )
    assert set(curve[-1]) == {"step", "loss", "cytoplasm_dice", "nucleus_dice"}
    return path


def classify_patch(network: PublishedNetwork, image: torch.Tensor, row: int, column: int) -> torch.Tensor:
    """Scores of one pixel as they are printed: a patch a scale through convolution, tanh, pooling and dense layers."""
    numbers, level = [], (image - torch.tensor(LEVEL).view(1, 3, 1, 1)) * GAIN
    for scale, branch in enumerate(network.branches):
        level = network.halve(level) if scale else level
        there = np.arange(-PATCH // 2, PATCH // 2)
        rows = np.clip(row // 2**scale + there, 0, level.shape[2] - 1)
        columns = np.clip(column // 2**scale + there, 0, level.shape[3] - 1)
        patch = level[:, :, rows][..., columns]
        assert patch.shape == (1, 3, 32, 32)
        maps = [torch.tanh(one(patch[:, index, None])) for index, one in enumerate(branch.filters)]
        pooled = functional.max_pool2d(torch.cat(maps, 1), 2)
        assert pooled.shape == (1, sum(MAPS), 11, 11)
        dense = branch.dense
        numbers.append(torch.tanh(functional.linear(pooled.flatten(), dense.weight.flatten(1), dense.bias)))
    fused = network.fuse
    return functional.linear(torch.cat(numbers), fused.weight.flatten(1), fused.bias)


@settings(max_examples=15, deadline=None)
@given(
    rows=st.integers(3, 30),
    columns=st.integers(3, 30),
    seed=st.integers(0, 1000),
    place=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_all_pixels_at_once_answer_as_their_patches_do(
    network: PublishedNetwork, rows: int, columns: int, seed: int, place: tuple[float, float]
) -> None:
    image = torch.from_numpy(np.random.default_rng(seed).random((1, 3, 4 * rows, 4 * columns), dtype=np.float32))
    row, column = (int(share * (side - 1)) for share, side in zip(place, image.shape[2:], strict=True))
    with torch.no_grad():
        scores = network(image)
        torch.testing.assert_close(scores[0, :, row, column], classify_patch(network, image, row, column))


def test_a_learning_network_answers_for_some_pixels_as_it_does_for_all(network: PublishedNetwork) -> None:
    image = torch.rand(2, 3, 64, 96)
    with torch.no_grad():
        every = network(image)
        some = network.train()(image)
        network.eval()
    torch.testing.assert_close(some, every[..., ::TAUGHT, ::TAUGHT])


def test_it_has_the_sizes_that_are_published(network: PublishedNetwork) -> None:
    weights = sum(value.numel() for value in network.parameters())
    a_scale = 16 * (11 * 11 + 1) + 3 * (16 * 11 * 11 + 1)
    assert weights == SCALES * a_scale + 3 * (3 * SCALES + 1)
    image = torch.zeros(1, 3, 256, 256)
    image.requires_grad_()
    network(image)[0, :, 128, 128].sum().backward()
    seen = torch.nonzero(image.grad[0].abs().sum(0))
    # The widest patch is 128 pixels of the image, and what the pyramid blurs into it.
    assert (seen.min(0).values >= 128 - 64 - 3).all() and (seen.max(0).values <= 128 + 63 + 3).all()
    assert (seen.max(0).values - seen.min(0).values >= 100).all()


def test_what_lies_at_the_border_of_a_window_is_not_taught() -> None:
    classes, nothing = torch.ones(1, 192, 192, dtype=torch.long), torch.zeros(1)
    answer = torch.zeros(1, 3, 192 // TAUGHT, 192 // TAUGHT)
    known = LESSON.loss(answer, classes, nothing, nothing)
    answer[..., : UNSEEN // TAUGHT, :] = torch.randn(1, 3, UNSEEN // TAUGHT, 192 // TAUGHT)
    torch.testing.assert_close(LESSON.loss(answer, classes, nothing, nothing), known)
    answer[:, 1] += 1
    assert LESSON.loss(answer, classes, nothing, nothing) < known


def test_a_model_of_it_gives_regions_without_layers_or_centres(model: Path) -> None:
    assert read_card(model)["architecture"] == "paper"
    image = annotated(0).image
    classes = find_classes(to_channels(image), open_model(model, "region model"))
    assert classes.shape == (3, *image.shape[:2])
    np.testing.assert_allclose(classes.sum(axis=0), 1, atol=1e-5)
    for refined in (False, True):
        found = find_regions(image, model=model, refined=refined, diameter=30)
        assert found.clump.shape == image.shape[:2] and found.layers is None and found.candidates is None
    with pytest.raises(ValueError, match="judge must be 'none'"):
        find_regions(image, model=model, judge="default")


def test_declump_itself_refuses_a_model_of_it(model: Path) -> None:
    with pytest.raises(ValueError, match="must answer with 8 maps, as a region model does, got 3"):
        declump.find_regions(annotated(0).image, model=model)
