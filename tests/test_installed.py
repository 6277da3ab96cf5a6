"""What ``tools/installed.py`` reads of wheels and of reports of tests."""

from __future__ import annotations

import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

TOOL = runpy.run_path(str(Path(__file__).resolve().parents[1] / "tools" / "installed.py"))

METADATA = """Metadata-Version: 2.4
Name: declump
Requires-Dist: numpy>=2
Requires-Dist: pyarrow>=17; extra == "tables"
Requires-Dist: cvat-sdk>=2; extra == 'label-studio'
Provides-Extra: tables
Provides-Extra: imagej
Provides-Extra: label-studio
"""


def test_extras_that_bring_nothing_are_left_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("declump-1.dist-info/METADATA", METADATA)
    assert TOOL["extras_of"](tmp_path / "a.whl") == ["tables", "label-studio"]


def test_what_skipped_is_named_as_pytest_takes_it(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "io"
    folder.mkdir(parents=True)
    (folder / "test_whole.py").write_text('import pytest\n\npytest.importorskip("no_such_library")\n')
    (folder / "test_parts.py").write_text(
        "import pytest\n\n"
        '@pytest.mark.parametrize("name", ["a b", "c"])\n'
        'def test_one(name):\n    pytest.skip("another extra")\n\n'
        'class TestTwo:\n    def test_three(self):\n        pytest.skip("another extra")\n\n'
        "def test_four():\n    pass\n"
    )
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--junitxml=report.xml",
        "-o",
        "junit_family=xunit1",
    ]
    subprocess.run([*words, "tests"], cwd=tmp_path, capture_output=True, check=True)
    skipped = TOOL["skipped_tests"](tmp_path / "report.xml")
    assert set(skipped) == {
        "tests/io/test_whole.py",
        "tests/io/test_parts.py::test_one[a b]",
        "tests/io/test_parts.py::test_one[c]",
        "tests/io/test_parts.py::TestTwo::test_three",
    }
    again = subprocess.run([*words, *skipped], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "4 skipped" in again.stdout
