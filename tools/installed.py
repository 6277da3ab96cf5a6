"""Tests the wheel as a user installs it: in empty environments, without extras and with each extra alone.

    python tools/installed.py                       # all of them; needs dist/*.whl of `make dist`
    python tools/installed.py --extras none tables  # some of them
    python tools/installed.py --write               # and writes the table of sizes into docs/installation.md

In each environment: ``declump demo`` and ``declump doctor`` with nothing but the wheel, then tests against the
installed package, from a copy of ``tests/`` that does not see this checkout. Without extras all tests run, and those
that need one skip; with an extra only these run again. Versions are those of constraints.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
from pages import commit, replace_part

ROOT = Path(__file__).resolve().parents[1]
NONE = "none"
TOOLS = ("pytest", "hypothesis", "pytest-xdist")
"""What the tests themselves need; the rest of the extra 'test' is for reading back what declump wrote."""
NOT_USERS = ("test", "docs", "napari")
"""Extras for those who work on declump, and bridges, which `make test-bridges` tests with versions of their own: they
are left out unless they are asked for."""


@dataclass(frozen=True)
class Outcome:
    """What came of one environment."""

    extra: str
    packages: int
    installed: int
    passed: int
    skipped: tuple[str, ...]
    """Tests that skipped, as pytest names them."""


def extras_of(wheel: Path) -> list[str]:
    """Names of the extras of a wheel, by its metadata, that bring a package."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    named = set(re.findall(r"extra == ['\"]([\w-]+)['\"]", " ".join(metadata.get_all("Requires-Dist") or [])))
    return [name for name in metadata.get_all("Provides-Extra") or [] if name in named]


def skipped_tests(report: Path) -> tuple[str, ...]:
    """Names of the tests that skipped, by a JUnit report of pytest (xunit1); of a whole module its path."""
    found = []
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is not None:
            file, kind = case.attrib["file"], case.attrib["classname"]
            module = file.removesuffix(".py").replace("/", ".")
            inside = kind.removeprefix(module).strip(".").split(".") if kind.startswith(module) else []
            found.append("::".join([file, *filter(None, inside), *([case.attrib["name"]] if kind else [])]))
    return tuple(dict.fromkeys(found))


def try_wheel(wheel: Path, extra: str, work: Path, tests: Sequence[str]) -> Outcome:
    """Install a wheel with one extra into an environment of its own, use it, and run tests against it."""
    home = work / extra
    run([sys.executable, "-m", "venv", str(home / "env")], work)
    python = home / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    folder = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], home).strip())
    empty = size_of(folder)
    target = str(wheel) if extra == NONE else f"{wheel}[{extra}]"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt"]
    run([*pip, target], home)
    installed = size_of(folder) - empty
    packages = len(json.loads(run([python, "-m", "pip", "list", "--format", "json"], home))) - 1
    command = python.with_name("declump")
    print(f"{extra}: {installed / 2**20:.0f} MB in {packages} packages", flush=True)
    print(run([command, "demo", "-o", "demo"], home).splitlines()[2], flush=True)
    run([command, "doctor"], home)

    run([*pip, *TOOLS], home)
    suite = home / "suite"
    suite.mkdir()
    left_out = shutil.ignore_patterns("__pycache__", "pictures", "_build")
    for name in ("tests", "docs", "benchmarks", "tools", "packaging", ".github"):
        shutil.copytree(ROOT / name, suite / name, ignore=left_out)
    for pattern in ("*.toml", "*.md", "*.cff", "*.txt", ".*.yaml", "Makefile", "conftest.py"):
        for path in ROOT.glob(pattern):
            shutil.copy(path, suite / path.name)
    where = run([python, "-c", "import declump; print(declump.__file__)"], suite).strip()
    if not where.startswith(str(folder)):
        sys.exit(f"the tests would see {where}, not the installed package")
    report = home / "report.xml"
    words = ["-m", "pytest", *tests, "-m", "not slow and not data and not checkout", "-p", "no:cacheprovider"]
    words += ["-n", "2", "--dist", "loadscope"]
    told = run([python, *words, f"--junitxml={report}", "-o", "junit_family=xunit1"], suite).splitlines()[-1]
    passed = re.search(r"(\d+) passed", told)
    print(f"{extra}: {told}", flush=True)
    return Outcome(extra, packages, installed, int(passed[1]) if passed else 0, skipped_tests(report))


def run(words: list[object], folder: Path) -> str:
    """Run a command outside the checkout and give what it prints; end with its output if it fails."""
    surroundings = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL"))}
    surroundings["DECLUMP_DATA"] = str(folder / "no data here")
    surroundings["DECLUMP_WITHOUT_EXTRAS"] = "1"
    done = subprocess.run([str(word) for word in words], cwd=folder, env=surroundings, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def size_of(folder: Path) -> int:
    """Bytes of all files of a folder, without what Python compiles as it goes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def table_of(wheel: Path, outcomes: Sequence[Outcome], tests: Sequence[str], at: str) -> str:
    """Lines of the table of sizes."""
    sdist = next(wheel.parent.glob("*.tar.gz")).stat().st_size
    lines = ["| installed | packages | on the disk | tests passed | skipped |", "|---|---|---|---|---|"]
    for one in outcomes:
        name = "`declump`" if one.extra == NONE else f"`declump[{one.extra}]`"
        figures = f"{one.packages} | {one.installed / 2**20:.0f} MB | {one.passed} | {len(one.skipped)}"
        lines.append(f"| {name} | {figures} |")
    sizes = f"The wheel has {wheel.stat().st_size / 2**20:.1f} MB, the sdist {sdist / 2**20:.1f} MB."
    version = ".".join(map(str, sys.version_info[:2]))
    chosen = "all tests" if list(tests) == ["tests"] else f"the tests of {', '.join(f'`{name}`' for name in tests)}"
    rule = (
        f"Without extras {chosen} run that are quick and need neither data nor a checkout; with an extra those that "
        "skipped without it."
    )
    told = f"Measured by `python tools/installed.py --write` on Linux, Python {version}, at commit {at}."
    return "\n".join([*lines, "", f"{rule} {sizes} {told}"])


def main() -> None:
    """Try the wheel in each environment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", nargs="*", help="by default 'none' and all that users install")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="folders and files of tests; by default all")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if len(wheels) != 1:
        sys.exit("there is to be one wheel in dist: run 'make dist' first")
    extras = options.extras or [NONE, *(name for name in extras_of(wheels[0]) if name not in NOT_USERS)]
    at = commit()
    with tempfile.TemporaryDirectory(prefix="declump-installed-") as work:
        outcomes: list[Outcome] = []
        for extra in extras:
            needing = outcomes[0].skipped if outcomes and outcomes[0].extra == NONE else options.tests
            outcomes.append(try_wheel(wheels[0], extra, Path(work), needing))
            shutil.rmtree(Path(work) / extra)
            table = table_of(wheels[0], outcomes, options.tests, at)
            if options.write:  # each time, as all of them take long
                replace_part("docs/installation.md", "sizes", table)
    print(table)


if __name__ == "__main__":
    main()
