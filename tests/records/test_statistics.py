from __future__ import annotations

import pytest

from declump.records.statistics import ImageStatistics

KNOWN = ImageStatistics(230.0, None, 22.0, 1.1, 390.0, 9000.0, 0.25)


def test_statistics_are_read_back() -> None:
    assert ImageStatistics.from_record(KNOWN.to_record()) == KNOWN


@pytest.mark.parametrize("wrong", [{"diameter": 0.0}, {"scale": float("nan")}, {"background": None}, {"scale": "1"}])
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} of an image's statistics is a number > 0"):
        ImageStatistics.from_record({**KNOWN.to_record(), **wrong})


def test_other_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"given were .*colour"):
        ImageStatistics.from_record({**KNOWN.to_record(), "colour": 1.0})
