"""Outputs of the paper's package are what they were; see the test of the same name of declump itself."""

from __future__ import annotations

import json

import pytest

from paper_support.golden_outputs import PRODUCERS, STORE
from support.golden_outputs import check_outputs, describe, rounds_alike

STORED = json.loads(STORE.read_text(encoding="utf-8"))
LEVEL_SETS = ("mcl", "lsf")
"""Methods whose outlines stop where a rounded iteration does: only their bytes are compared."""


@pytest.fixture(scope="module")
def alike() -> bool:
    return rounds_alike()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "producer", [pytest.param(name, marks=[pytest.mark.slow] * (name == "commands")) for name in PRODUCERS]
)
def test_outputs_are_those_that_were_stored(producer: str, alike: bool) -> None:
    made, stored = describe(PRODUCERS[producer]), STORED[producer]
    if producer == "compared" and not alike:
        made, stored = ({name: of[name] for name in of.keys() - set(LEVEL_SETS)} for of in (made, stored))
    check_outputs(made, stored, alike=alike)


def test_nothing_stored_is_without_a_producer() -> None:
    assert set(STORED) == set(PRODUCERS)
