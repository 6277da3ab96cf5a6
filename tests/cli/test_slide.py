"""``declump slide``: what is wrong is said in one sentence, before any work, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def slide(tmp_path: Path) -> Path:
    iio.imwrite(tmp_path / "slide.png", np.full((200, 300, 3), 230, np.uint8))
    return tmp_path / "slide.png"


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("missing.svs", (), "there is no slide at"),
        ("words.svs", (), "words.svs"),
        ("slide.png", ("--level", 3), "has only level 0, and none of number 3"),
        ("slide.png", ("--format", "docx"), "there is no format 'docx'"),
        ("slide.png", ("--tile", 3), "from 128 to 16384 pixels"),
        ("slide.png", ("--diameter", -1), "diameter of a nucleus"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_left(
    here: Here, slide: Path, name: str, options: tuple[object, ...], sentence: str
) -> None:
    (slide.parent / "words.svs").write_text("no slide")
    code, _, said = here("slide", slide.parent / name, "-o", slide.parent / "out", *options)
    assert code != 0 and sentence in said and said.count("\n") == 1
    assert not (slide.parent / "out").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(here: Here, slide: Path) -> None:
    code, _, said = here("slide", slide, "-o", slide.parent)
    assert (
        code == 1 and "is not empty" in said and sorted(path.name for path in slide.parent.iterdir()) == ["slide.png"]
    )
