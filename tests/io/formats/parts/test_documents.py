from __future__ import annotations

from pathlib import Path

import pytest

from declump.io.formats.parts.documents import check_size, read_json


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_are_finite(number: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f'{{"a": {number}}}')
    with pytest.raises(ValueError, match=f"it holds {number}"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize("size", [(10**9, 10**9), (-1, 5), ("5", 5), (5.0, 5), (True, 5), (None, 5)])
def test_an_image_that_cannot_be_is_not_believed(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="its image has"):
        check_size(*size)
