from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")

from declump.models import model_path, open_model  # noqa: E402
from declump.training.judge.network import JudgeNetwork  # noqa: E402
from declump.training.pretrained import load_model  # noqa: E402
from declump.training.rays.network import RayNetwork  # noqa: E402
from declump.training.regions.network import RegionNetwork  # noqa: E402

BATCH = torch.from_numpy(np.random.default_rng(0).random((2, 3, 64, 80), dtype=np.float32))


@pytest.fixture(scope="module")
def shipped() -> Path:
    return model_path("default", "regions.onnx")


def test_a_network_read_back_answers_as_its_model(shipped: Path) -> None:
    network = RegionNetwork()
    load_model(shipped, network, BATCH)
    expected = open_model(shipped, "region model").run(BATCH[0].numpy())
    with torch.no_grad():
        answer = network.eval()(BATCH[:1])[0].numpy()
    np.testing.assert_allclose(answer, expected, atol=2e-4)


def test_its_normalisations_know_what_it_sees(shipped: Path) -> None:
    """In training a batch is normalised by its own statistics: with those of the batch nothing changes."""
    network = RegionNetwork()
    load_model(shipped, network, BATCH)
    with torch.no_grad():
        calm, learning = network.eval()(BATCH), network.train()(BATCH)
    torch.testing.assert_close(calm, learning, atol=5e-2, rtol=1e-2)


@pytest.mark.parametrize(
    ("network", "name", "shape"),
    [(RayNetwork, "rays.onnx", (2, 9, 64, 80)), (JudgeNetwork, "judge.onnx", (2, 9, 64, 64))],
)
def test_the_other_models_that_ship_are_read_back(network: type, name: str, shape: tuple[int, ...]) -> None:
    made = network()
    before = {key: value.clone() for key, value in made.state_dict().items() if "weight" in key}
    load_model(model_path("default", name), made, torch.rand(shape))
    assert all(not torch.equal(value, made.state_dict()[key]) for key, value in before.items())


def test_another_network_is_refused(shipped: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds another network"):
        load_model(shipped, RegionNetwork(fine=8), BATCH)
    with pytest.raises(ValueError, match="holds another network"):
        load_model(model_path("default", "rays.onnx"), RegionNetwork(), BATCH)
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(shipped.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"damaged\.onnx"):
        load_model(damaged, RegionNetwork(), BATCH)
    with pytest.raises(FileNotFoundError, match="there is no model"):
        load_model(tmp_path / "nowhere.onnx", RegionNetwork(), BATCH)
