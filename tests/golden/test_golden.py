"""Outputs of every public function and format are what they were.

What is decided and, within rounding, all values are compared everywhere. Bytes are compared where the libraries are
those of ``constraints.txt`` and the processor rounds as the one they were stored on.
"""

from __future__ import annotations

import json

import pytest

from support.golden_outputs import PRODUCERS, STORE, check_outputs, describe, rounds_alike

STORED = json.loads(STORE.read_text(encoding="utf-8"))["outputs"]
SLOW = ("commands", "networks")


@pytest.fixture(scope="module")
def alike() -> bool:
    return rounds_alike()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "producer", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PRODUCERS]
)
def test_outputs_are_those_that_were_stored(producer: str, alike: bool) -> None:
    if producer == "networks":
        pytest.importorskip("torch", reason="training needs the extra 'train'")
    check_outputs(describe(PRODUCERS[producer]), STORED[producer], alike=alike)


def test_nothing_stored_is_without_a_producer() -> None:
    assert set(STORED) == set(PRODUCERS)
