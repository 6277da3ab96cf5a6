"""Where everything comes from: pinned packages with hashes, their licences, a bill of materials.

    python tools/supply.py lock       # writes requirements.lock and its like from what is installed here
    python tools/supply.py audit      # prints versions and licences of all packages that declump needs
    python tools/supply.py bom        # writes bom.json, a bill of materials (CycloneDX 1.5), for a release

``lock`` needs the network. torch itself is left to constraints.txt: its build without CUDA comes from another index,
whose files have other hashes; all that it needs is locked.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import urllib.request
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LOCKS: dict[str, tuple[str, ...]] = {
    "requirements.lock": (),
    "requirements-test.lock": ("test",),
    "requirements-train.lock": ("train",),
    "requirements-docs.lock": ("docs",),
}
"""Files, and the extras that they are for."""
UNLOCKED = ("torch",)
"""Pinned without a hash."""
INDEX = "https://pypi.org/simple"
BUILD = {"cython": "3.3.1", "setuptools": "80.9.0"}
"""What installs the package itself, which then needs no download of its own."""


def plain(name: str) -> str:
    """Name of a package as indexes have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(extras: tuple[str, ...]) -> dict[str, metadata.Distribution]:
    """All packages that declump with some extras needs, directly or not, as they are installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    found: dict[str, metadata.Distribution] = {}
    waiting: list[tuple[list[str], tuple[str, ...]]] = [(direct, ())]
    while waiting:
        lines, wanted = waiting.pop()
        for requirement in map(Requirement, lines):
            marker = requirement.marker
            asked = marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *wanted))
            if asked and plain(requirement.name) not in found:
                try:
                    distribution = metadata.distribution(requirement.name)
                except metadata.PackageNotFoundError:
                    sys.exit(f"{requirement.name} is not installed here; run 'make lint docs' first")
                found[plain(requirement.name)] = distribution
                waiting.append((distribution.requires or [], tuple(requirement.extras)))
    return dict(sorted(found.items()))


@cache
def hashes(name: str, version: str) -> list[str]:
    """SHA-256 of every file that the index has of a version, whatever the system it is for."""
    with urllib.request.urlopen(f"{INDEX}/{name}/", timeout=60) as answer:
        links = re.findall(r"/([^/#]+)#sha256=([0-9a-f]{64})", answer.read().decode())
    own = re.compile(rf"[^-]+-{re.escape(version)}(-|\.tar\.gz$|\.zip$)")
    found = sorted({digest for file, digest in links if own.match(file.replace(name, plain(name).replace("-", "_")))})
    if not found:
        sys.exit(f"{INDEX} has no file of {name} {version}")
    return found


def licence(distribution: metadata.Distribution) -> str:
    """What a package says of its licence, in a few words."""
    told = distribution.metadata
    if told.get("License-Expression"):
        return str(told["License-Expression"])  # however long: of several parts each counts
    expression = (told.get("License") or "").strip().split("\n")[0]
    classes = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or () if line.startswith("License ::")]
    return expression if expression and len(expression) < 60 else ", ".join(classes) or "not told"


def lock() -> None:
    """Write the files of pinned packages."""
    for file, extras in LOCKS.items():
        packages = {name: found.version for name, found in needed(extras).items() if name not in UNLOCKED} | BUILD
        lines = ["# Every package, with the hashes of all its files; written by `python tools/supply.py lock`."]
        for name, version in sorted(packages.items()):
            digests = [f"--hash=sha256:{digest}" for digest in hashes(name, version)]
            lines.append(" \\\n    ".join([f"{name}=={version}", *digests]))
        (ROOT / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{len(packages)} packages in {file}")


@cache
def locked() -> dict[str, list[str]]:
    """Hashes of the packages that are locked, by name, as they stand in the files."""
    found: dict[str, list[str]] = {}
    for file in LOCKS:
        for entry in re.split(r"\n(?=\S)", (ROOT / file).read_text(encoding="utf-8")):
            if "==" in entry:
                found[entry.partition("==")[0]] = re.findall(r"sha256:([0-9a-f]{64})", entry)
    return found


def audit() -> None:
    """Print versions and licences."""
    for name, distribution in needed(("test", "train")).items():
        print(f"{name:<28} {distribution.version:<16} {licence(distribution)}")


def bom() -> None:
    """Write the bill of materials of what a user installs."""
    components = [
        {
            "type": "library",
            "name": name,
            "version": distribution.version,
            "purl": f"pkg:pypi/{name}@{distribution.version}",
            "licenses": [{"license": {"name": licence(distribution)}}],
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in locked().get(name, [])],
        }
        for name, distribution in needed(()).items()
    ]
    own = {"type": "application", "name": "declump", "version": metadata.version("declump")}
    content = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": own}}
    (ROOT / "bom.json").write_text(json.dumps({**content, "components": components}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(components)} packages in {ROOT / 'bom.json'}")


if __name__ == "__main__":
    commands = {"lock": lock, "audit": audit, "bom": bom}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]]()
