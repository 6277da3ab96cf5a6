"""Networks in 8 bits: nearly the same answers, the same card, and made of the file that is shipped beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="a network is written in 8 bits by onnx")

from typer.testing import CliRunner

from declump import simulate
from declump._files import file_digest
from declump.cli.train import app
from declump.evidence.windows import View, prepare_surroundings, sample_window
from declump.models import ORIGINAL_ENTRY, REACH_ENTRY, model_path, open_model, read_card
from declump.regions.channels import to_channels
from declump.regions.inference import open_region_model, region_maps
from declump.regions.lattice import find_receptive_field
from declump.training import quantise, quantising

SMEAR = simulate.smear((256, 256), cells=6, overlap=0.4, stain="pap", rng=11)


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped region network in 8 bits, by few smears."""
    out = tmp_path_factory.mktemp("models") / "regions.onnx"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantising, "SMEARS", 3)
        quantise(model_path("default", "regions.onnx"), out)
    return out


@pytest.mark.parametrize("name", ["regions", "rays"])
def test_what_is_shipped_was_made_of_the_network_beside_it(name: str) -> None:
    whole, small = (model_path("default", f"{name}{kind}.onnx") for kind in ("", "-8bit"))
    card = read_card(small)
    reach = {REACH_ENTRY: card.get(REACH_ENTRY)} if name == "regions" else {}
    assert card == {**read_card(whole), ORIGINAL_ENTRY: file_digest(whole), **reach}, (
        f"run: declump train quantise {whole} -o {small} --overwrite"
    )


def test_it_is_small_and_made_once(regions: Path, tmp_path: Path) -> None:
    whole = model_path("default", "regions.onnx")
    assert regions.stat().st_size < 0.4 * whole.stat().st_size
    card = read_card(regions)
    assert (
        card[REACH_ENTRY]
        == find_receptive_field(open_region_model(regions))
        == find_receptive_field(open_region_model(whole))
    )
    assert card == {**read_card(whole), ORIGINAL_ENTRY: file_digest(whole), REACH_ENTRY: card[REACH_ENTRY]}
    with pytest.raises(ValueError, match="8 bits already"):
        quantise(regions, tmp_path / "twice.onnx")
    assert not any(tmp_path.iterdir())


def test_the_command_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantising, "SMEARS", 1)
    out = tmp_path / "deep" / "rays.onnx"
    source = str(model_path("default", "rays.onnx"))
    told = CliRunner().invoke(app, ["quantise", source, "-o", str(out)])
    assert told.exit_code == 0 and str(out) in told.output.replace("\n", "")
    assert isinstance(CliRunner().invoke(app, ["quantise", source, "-o", str(out)]).exception, FileExistsError)


def test_a_judge_is_left_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only these"):
        quantise(model_path("default", "judge.onnx"), tmp_path / "judge.onnx")
    assert not any(tmp_path.iterdir())


def test_regions_are_nearly_the_same(regions: Path) -> None:
    channels = to_channels(SMEAR.image)
    whole, small = (
        region_maps(channels, open_region_model(model)) for model in (model_path("default", "regions.onnx"), regions)
    )
    assert np.mean(whole.classes.argmax(axis=0) != small.classes.argmax(axis=0)) < 0.003
    assert np.abs(whole.classes - small.classes).mean() < 0.005


def test_features_enlarged_in_halves_are_the_same(regions: Path, tmp_path: Path) -> None:
    import onnx

    halved = onnx.load(regions)
    quantising.halve_last_enlargement(halved.graph)
    onnx.save(halved, tmp_path / "halved.onnx")
    before, after = (
        open_region_model(path).run(to_channels(SMEAR.image)) for path in (regions, tmp_path / "halved.onnx")
    )
    assert len(halved.graph.node) > len(onnx.load(regions).graph.node)
    np.testing.assert_array_equal(before, after)


def test_rays_are_nearly_the_same() -> None:
    labels = np.max(SMEAR.nuclei * np.arange(1, 7)[:, None, None], axis=0).astype(np.int32)
    around = prepare_surroundings(SMEAR.image, SMEAR.clump, labels, 2.0)
    whole, small = (open_model(model_path("default", name), "ray model") for name in ("rays.onnx", "rays-8bit.onnx"))
    for index, seed in enumerate(SMEAR.seeds):
        window = sample_window(around, seed, index + 1, np.delete(SMEAR.seeds, index, axis=0), View(2.0))
        one, other = whole.run(window), small.run(window)
        assert np.abs(one[0] - other[0]).mean() < 0.2 * one[1].mean()
