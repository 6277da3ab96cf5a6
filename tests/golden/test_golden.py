"""Outputs of every public function and format are what they were: a guard of reproducibility.

Stored digests hold with the versions of ``constraints.txt``, where the processor rounds as on the machine they were
made on; elsewhere the number of values and their means are compared instead.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from support.golden_outputs import PRODUCERS, STORE, arithmetic, outputs

STORED = json.loads(STORE.read_text(encoding="utf-8"))


CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"
LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-image",
    "numba",
    "onnxruntime",
    "pillow",
    "tifffile",
    "imageio",
    "pyarrow",
    "roifile",
)

SLOW = ("commands", "networks")


@pytest.fixture(scope="module")
def rounds_alike() -> bool:
    pinned = dict(line.split("==") for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if "==" in line)
    return all(version(name) == pinned[name] for name in LIBRARIES) and arithmetic() == STORED["arithmetic"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "producer", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PRODUCERS]
)
def test_outputs_are_those_that_were_stored(producer: str, rounds_alike: bool) -> None:
    if producer == "networks":
        pytest.importorskip("torch", reason="training needs the extra 'train'")
    made, stored = outputs(producer), STORED["outputs"][producer]
    assert made.keys() == stored.keys()
    if rounds_alike:
        changed = [name for name in stored if made[name]["sha256"] != stored[name]["sha256"]]
        assert not changed, (
            "if these were meant to change, say why in a commit, and run tests/support/golden_outputs.py"
        )
    else:
        for name in stored:
            count, mean = stored[name]["figures"]
            assert made[name]["figures"][0] == pytest.approx(count, rel=0.05), name
            np.testing.assert_allclose(made[name]["figures"][1], mean, rtol=0.05, atol=1e-3, err_msg=name)


def test_nothing_stored_is_without_a_producer() -> None:
    assert set(STORED["outputs"]) == set(PRODUCERS)
