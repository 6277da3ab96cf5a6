"""declump without the paper's package: every module is there, and what that package would add is told."""

from __future__ import annotations

import subprocess
import sys

from support.waiting import LIMIT

BLOCKED = """
import importlib.metadata, sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "declump_paper":
            raise ImportError(f"{name} must not be imported by declump")

sys.meta_path.insert(0, Blocked())
entries = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **given: [
    entry for entry in entries(**given) if not entry.value.startswith("declump_paper")
]
"""
MODULES = """
import importlib, pkgutil, declump
count = 0
for module in pkgutil.walk_packages(declump.__path__, "declump."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] == "declump":
            raise  # of an extra that is not installed
    count += 1
print(count)
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", BLOCKED + code, *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)


def test_no_module_needs_the_package_of_the_paper() -> None:
    ended = run(MODULES)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 250


def test_a_command_of_the_paper_says_what_installs_it() -> None:
    for name in ("compare", "importance", "reproduce"):
        ended = run("from declump.cli import main; main()", name, "isbi2015")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert f"'declump {name}' is in the paper's package: pip install " in ended.stderr
        assert ended.stderr.count("\n") == 1
    assert run("from declump.cli import main; main()", "nonsense").returncode == 2
