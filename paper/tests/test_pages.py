"""The pages of the paper's package show commands that exist, and lead to files that exist."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.checkout

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = runpy.run_path(str(ROOT / "docs" / "code_blocks.py"))
PAGES = BLOCKS["PAPER_PAGES"]
COMMANDS = [
    pytest.param(command, id=f"{page.name}:{line}") for page in PAGES for line, command in BLOCKS["commands"](page)
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_pages_exists_with_its_options(command: str) -> None:
    BLOCKS["check_command"](BLOCKS["words_of"](command))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


def test_there_are_pages_and_commands_to_check() -> None:
    assert len(PAGES) > 20 and len(COMMANDS) > 10
