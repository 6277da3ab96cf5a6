from __future__ import annotations

import pytest

from declump.errors import printable, sentence


def test_what_steers_a_terminal_is_written_as_an_escape() -> None:
    assert printable("a\x1b]0;title\a b\u2028\udcff") == r"a\x1b]0;title\x07 b\u2028\udcff"
    assert printable("grün µm 😀 \u202fa\u200db") == "grün µm 😀 \u202fa\u200db"


@pytest.mark.parametrize("error", [ValueError("a\x1b[2J\nb"), FileNotFoundError(2, "No such file", "\x1b[2J\nb")])
def test_an_error_is_one_line_without_escape_sequences(error: Exception) -> None:
    assert "\x1b" not in sentence(error) and "\n" not in sentence(error) and r"\x1b[2J" in sentence(error)
