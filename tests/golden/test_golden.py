"""Outputs of every public function and format are what they were: a guard of reproducibility.

Stored digests hold with the versions of ``constraints.txt``, where the processor rounds as on the machine they were
made on; elsewhere the number of values and their means are compared instead.
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
