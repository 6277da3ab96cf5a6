"""Where packages come from: all of them pinned, with hashes, and a bill of materials."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from email.message import Message
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

pytestmark = pytest.mark.checkout

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def supply() -> ModuleType:
    spec = importlib.util.spec_from_file_location("supply", ROOT / "tools" / "supply.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_package_is_locked_with_hashes_but_torch(supply: ModuleType) -> None:
    locked = supply.locked()
    for extras in ((), ("test",), ("train",)):
        try:
            wanted = set(supply.needed(extras)) - set(supply.UNLOCKED)
        except SystemExit:
            pytest.skip(f"the extras {extras} are not installed here")
        assert wanted <= set(locked), sorted(wanted - set(locked))
    assert all(digests for digests in locked.values())


def test_locked_versions_are_those_of_the_constraints(supply: ModuleType) -> None:
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    assert supply.UNLOCKED[0] in pinned
    for file in supply.LOCKS:
        for name, version in re.findall(r"^([\w.-]+)==(\S+) \\$", (ROOT / file).read_text(), re.MULTILINE):
            assert pinned.get(name, version) == version, f"{name} in {file}"


def test_make_installs_by_the_locks(supply: ModuleType) -> None:
    makefile = (ROOT / "Makefile").read_text()
    # Resolving would take a newer release of a package that another asks for with an extra, and refuse it.
    assert "--require-hashes --no-deps" in makefile
    for file in supply.LOCKS:
        assert f"$(LOCKED) -r {file}" in makefile


def test_a_licence_of_many_parts_is_told_whole_and_a_long_text_is_not(supply: ModuleType) -> None:
    def told(**fields: str) -> str:
        record = Message()
        for name, value in fields.items():
            record[name.replace("_", "-")] = value
        return str(supply.licence(SimpleNamespace(metadata=record)))

    parts = "LGPL-2.1-only AND BSD-2-Clause AND BSD-3-Clause AND MIT AND libpng-2.0 AND libtiff AND Zlib"
    assert told(License_Expression=parts) == parts
    assert told(License="Permission is hereby granted " * 9, Classifier="License :: OSI Approved :: MIT") == "MIT"
    assert told(License="MIT") == "MIT" and told() == "not told"


def test_the_audit_and_the_bill_of_materials_name_every_package_with_its_licence(
    supply: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "supply.py"), "audit"], capture_output=True, text=True, check=False
    )
    if "is not installed here" in ended.stderr:
        pytest.skip(ended.stderr)
    assert ended.returncode == 0 and re.search(r"^numpy +\d\S* +BSD", ended.stdout, re.MULTILINE)
    locked = supply.locked()
    project = tmp_path / "pyproject.toml"
    project.write_text((ROOT / "pyproject.toml").read_text())
    monkeypatch.setattr(supply, "ROOT", tmp_path)
    monkeypatch.setattr(supply, "locked", lambda: locked)
    supply.bom()
    content = json.loads((tmp_path / "bom.json").read_text())
    assert (content["bomFormat"], content["specVersion"]) == ("CycloneDX", "1.5")
    names = {component["name"] for component in content["components"]}
    assert {"numpy", "onnxruntime", "typer", "scikit-image"} <= names
    assert all(component["hashes"] for component in content["components"])
    assert "not told" not in str([component["licenses"] for component in content["components"]])
