"""What a model has to be run with travels in its card."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from declump import Regions, simulate
from declump.evidence.proposals import propose_rays
from declump.models import NUCLEUS_DIAMETER, model_path, open_model, read_card
from declump.regions.inference import open_region_model, region_maps

SMEAR = simulate.smear((200, 220), cells=4, overlap=0.3, rng=3)


def with_card(model: Path, path: Path, **entries: float) -> Path:
    """Copy a model with other entries in its card."""
    onnx = pytest.importorskip("onnx", reason="cards are written by onnx")
    content = onnx.load(model)
    (entry,) = (entry for entry in content.metadata_props if entry.key == "card")
    card = {name: value for name, value in json.loads(entry.value).items() if not name.startswith(("window", "nucl"))}
    entry.value = json.dumps({**card, **{name.replace("_", " "): value for name, value in entries.items()}})
    onnx.save(content, path)
    return path


@pytest.mark.parametrize(("name", "kind"), [("regions.onnx", "region model"), ("rays.onnx", "ray model")])
def test_a_card_that_tells_nothing_of_nuclei_means_the_usual_diameter(name: str, kind: str, tmp_path: Path) -> None:
    shipped = model_path("default", name)
    assert open_model(shipped, kind).nucleus_diameter == NUCLEUS_DIAMETER
    assert open_model(shipped, kind).card == read_card(shipped)
    silent = open_model(with_card(shipped, tmp_path / name), kind)
    assert "nucleus diameter" not in silent.card and silent.nucleus_diameter == NUCLEUS_DIAMETER


def test_a_region_model_looks_at_nuclei_of_its_own_diameter(tmp_path: Path) -> None:
    path = with_card(model_path("default", "regions.onnx"), tmp_path / "regions.onnx", nucleus_diameter=44)
    assert open_region_model(path).nucleus_diameter == 44
    channels = np.random.default_rng(0).random((3, 64, 48), dtype=np.float32)
    shipped = model_path("default", "regions.onnx")
    own, shipped = (region_maps(channels, open_region_model(model)) for model in (path, shipped))
    assert own.classes.tobytes() == shipped.classes.tobytes()


def test_a_ray_model_looks_in_steps_of_its_own(tmp_path: Path) -> None:
    shipped = model_path("default", "rays-8bit.onnx")
    path = with_card(shipped, tmp_path / "rays.onnx", nucleus_diameter=11.0, window_step=4.0)
    known = Regions(SMEAR.clump, SMEAR.nuclei.any(axis=0))
    own = propose_rays(SMEAR.image, known, model=path, diameter=5.5)
    np.testing.assert_array_equal(own.radii, propose_rays(SMEAR.image, known, diameter=22.0).radii)
    wrong = with_card(model_path("default", "rays.onnx"), tmp_path / "wrong.onnx", window_angles=32)
    with pytest.raises(ValueError, match="is not a ray model"):
        propose_rays(SMEAR.image, known, model=wrong)


def test_a_model_that_was_trained_anew_is_opened_anew(tmp_path: Path) -> None:
    path = with_card(model_path("default", "rays.onnx"), tmp_path / "rays.onnx", nucleus_diameter=11.0)
    first = open_model(path, "ray model")
    assert open_model(path, "ray model") is first
    with_card(model_path("default", "rays.onnx"), path, nucleus_diameter=12.0)
    assert open_model(path, "ray model").nucleus_diameter == 12.0


OPEN = "from declump.models import model_path, open_model; open_model(model_path('default', 'rays.onnx'), 'ray model')"


def fresh_home(folder: Path) -> dict[str, str]:
    """Surroundings of a user who has never run anything, and who would not forbid reports."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    return {**kept, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def test_a_model_leaves_nothing_in_the_home_of_the_user(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", OPEN], env=fresh_home(tmp_path), check=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace tells which sockets a process opens")
def test_no_command_reaches_for_the_network(tmp_path: Path) -> None:
    """Left to itself onnxruntime looks a host up ten seconds after it was imported; so long one has to wait."""
    home, log = tmp_path / "home", tmp_path / "log"
    home.mkdir()
    traced = ["strace", "-f", "-qq", "-o", str(log), "-e", "trace=socket,connect,sendto,sendmsg", sys.executable, "-c"]
    patient = f"{OPEN}; import time; time.sleep(13)"
    tried = subprocess.run([*traced, patient], env=fresh_home(home), check=False, capture_output=True, text=True)
    if "ptrace" in tried.stderr:
        pytest.skip(f"strace may not look into processes here: {tried.stderr.strip()}")
    assert tried.returncode == 0, tried.stderr
    assert "AF_INET" not in log.read_text() and list(home.iterdir()) == []
