"""The pages show commands that exist; their blocks of Python are run by `make docs`."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLOCKS = runpy.run_path(str(DOCS / "code_blocks.py"))
COMMANDS = [
    pytest.param(command, id=f"{page.name}:{line}")
    for page in BLOCKS["PAGES"]
    if page.name not in BLOCKS["GENERATED"]
    for line, command in BLOCKS["commands"](page)
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_pages_exists_with_its_options(command: str) -> None:
    BLOCKS["check_command"](BLOCKS["words_of"](command))


def test_there_are_commands_to_check() -> None:
    assert len(COMMANDS) > 30


@pytest.mark.parametrize(
    "command", ["declump segmnt a.png", "declump segment a.png --formats csv", "declump --nothing"]
)
def test_a_command_that_does_not_exist_is_told(command: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no (such )?(command|option)"):
        BLOCKS["check_command"](BLOCKS["words_of"](command))


def test_a_block_that_fails_is_told_with_the_line_of_its_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n```python\nimage.shape\n```\n\n```python\n1 / 0\n```\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError) as told:
        BLOCKS["run_page"](page)
    assert told.traceback[-1].lineno == 7 and Path(str(told.traceback[-1].path)).name == "page.md"


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    check = runpy.run_path(str(DOCS / "check_links.py"))["broken_links"]
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">b</a><a href="#here">a</a><img src="c.png">')
    (tmp_path / "b.html").write_text('<p id="elsewhere"><a href="https://example.org">e</a>')
    broken, inner, outer = check(tmp_path)
    assert len(broken) == 2 and (inner, outer) == (3, 1)
    assert any("b.html#there" in line for line in broken) and any("c.png" in line for line in broken)
