from __future__ import annotations

import errno

import pytest

from declump.errors import (
    HELP_PAGE,
    MissingExtraError,
    UnreadableFileError,
    help_address,
    printable,
    raise_ending,
    sentence,
)


def test_what_steers_a_terminal_is_written_as_an_escape() -> None:
    assert printable("a\x1b]0;title\a b\u2028\udcff") == r"a\x1b]0;title\x07 b\u2028\udcff"
    assert printable("grün µm 😀 \u202fa\u200db") == "grün µm 😀 \u202fa\u200db"


@pytest.mark.parametrize("error", [ValueError("a\x1b[2J\nb"), FileNotFoundError(2, "No such file", "\x1b[2J\nb")])
def test_an_error_is_one_line_without_escape_sequences(error: Exception) -> None:
    assert "\x1b" not in sentence(error) and "\n" not in sentence(error) and r"\x1b[2J" in sentence(error)


@pytest.mark.parametrize(
    ("error", "anchor"),
    [
        (MemoryError(), "memory"),
        (FileNotFoundError("there is no file"), "no-file"),
        (FileExistsError("is not empty"), "not-empty"),
        (PermissionError(13, "no"), "not-allowed"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk"),
        (OSError("broken"), "disk"),
        (BlockingIOError("another run writes into it"), "in-use"),
        (ChildProcessError("a worker ran out of memory"), "memory"),
        (ConnectionError("the Dask scheduler is gone"), "cluster"),
        (MissingExtraError("needs torch"), "extra"),
        (UnreadableFileError("is empty"), "unreadable"),
        (ValueError("the scale is a number > 0"), "value"),
        (ZeroDivisionError(), "bug"),
    ],
)
def test_every_error_has_a_section_of_the_help_page(error: Exception, anchor: str) -> None:
    address, found = help_address(error).split("#")
    assert found == anchor and address == HELP_PAGE.as_uri()
    assert f'<h2 id="{anchor}">' in HELP_PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", [SystemExit(143), KeyboardInterrupt()])
def test_an_ending_that_compiled_code_hid_is_raised_again(ending: BaseException) -> None:
    hidden, twice = (SystemError("returned a result with an exception set") for _ in range(2))
    hidden.__cause__, twice.__cause__ = ending, hidden
    for error in (hidden, twice):
        with pytest.raises(type(ending)):
            raise_ending(error)


def test_faults_are_no_endings() -> None:
    fault = SystemError("returned a result with an exception set")
    fault.__cause__ = ValueError("a fault")
    for error in (fault, SystemError("no cause"), ValueError("a fault")):
        raise_ending(error)
