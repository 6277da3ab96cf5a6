"""One version, one list of requirements, and archives that hold what they should."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import declump

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT["project"] and PROJECT["project"]["dynamic"] == ["version"]
    assert re.search(r'version: "([\d.]+)"', RECIPE)[1] == declump.__version__


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    lines = re.findall(r"^    - (.+)$", RECIPE.partition("  run:\n")[2].partition("\ntests:")[0], re.MULTILINE)
    assert {line.replace(" ", "") for line in lines} - {"python>=3.11"} == set(PROJECT["project"]["dependencies"])


def test_formats_without_heavy_libraries_are_written_by_the_default_installation() -> None:
    assert any(entry.startswith("roifile") for entry in PROJECT["project"]["dependencies"])


def test_lowest_versions_are_those_of_the_lowest_constraints() -> None:
    constraints = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    for requirement in PROJECT["project"]["dependencies"]:
        name, lowest = requirement.split(">=")
        pinned = re.search(rf"^{name}==(.+)$", constraints, re.MULTILINE)
        assert pinned and pinned[1].startswith(lowest), requirement


@pytest.mark.parametrize("name", ["benchmarks/models/rays-a.onnx", "docs/pictures/demo.png", "declump/a.pyc"])
def test_an_archive_with_what_is_not_shipped_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dist = runpy.run_path(str(ROOT / "tools" / "dist.py"))
    package = Path(declump.__file__).parent
    held = [f"declump/{path.relative_to(package).as_posix()}" for path in package.rglob("*.*") if path.suffix != ".pyc"]
    check = dist["check_content"]
    monkeypatch.setitem(check.__globals__, "ROOT", tmp_path)
    monkeypatch.setitem(check.__globals__, "names_in", lambda _: [*held, "LICENSE"])
    check(Path("a.whl"))
    monkeypatch.setitem(check.__globals__, "names_in", lambda _: [*held, "LICENSE", name])
    with pytest.raises(SystemExit, match=re.escape(name)):
        check(Path("a.whl"))


@pytest.mark.slow
@pytest.mark.checkout
@pytest.mark.skipif(os.name == "nt", reason="compilers are found otherwise there")
def test_without_a_compiler_a_sentence_says_what_is_missing(tmp_path: Path) -> None:
    pytest.importorskip("Cython", reason="a source installation needs it")
    command = [sys.executable, "setup.py", "-q", "build_ext", f"--build-lib={tmp_path}", f"--build-temp={tmp_path}"]
    surroundings = {**os.environ, "CC": "no-such-compiler"}
    ended = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and ended.stderr.count("\n") == 1
    assert "a C compiler (no-such-compiler) not found" in ended.stderr


def test_an_archive_without_a_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (ROOT / "src").is_dir():
        pytest.skip("no checkout: what the package has to hold is not known")
    check = runpy.run_path(str(ROOT / "tools" / "dist.py"))["check_content"]
    monkeypatch.setitem(check.__globals__, "names_in", lambda _: ["LICENSE"])
    with pytest.raises(SystemExit, match=r"rays\.onnx"):
        check(Path("a.whl"))
