"""Tests lie where their modules lie, and nothing that they share is left over."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.checkout

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "declump"
WITHOUT_A_MODULE = {
    "_kernels/test_input.py": "all kernels: arrays that they refuse, and take",
    "bridges/test_integrations.py": "files in integrations/ for programs that run the command",
    "cli/test_segment_many.py": "a command on many images: processes, interruptions, and going on afterwards",
    "datasets/test_isbi.py": "two readers with one test: isbi2014 and isbi2015",
    "golden/test_golden.py": "all rooms: stored digests of what they give",
    "golden/test_real.py": "all rooms: digests of what they give on real frames",
    "io/formats/test_labels.py": "three formats with one test: label planes, flat labels and masks",
    "io/formats/test_second_nuclei.py": "one awkward case in all formats",
    "io/formats/test_tables.py": "two formats with one test: CSV and Parquet",
    "pipelines/test_real_data.py": "accuracy on real cells, end to end",
    "training/test_train.py": "two trainings with one test: regions and rays",
    "report/test_browser.py": "the page with its script, in a browser",
    "review/test_browser.py": "the page with its scripts, in a browser",
}
"""Tests of several modules or of a whole, with what they are about."""
FILES = sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py") if path.parent != TESTS)
HELPERS = sorted(path for path in (TESTS / "support").glob("*.py") if path.name != "__init__.py")


def mirrors(test: str) -> bool:
    """Whether a test file has the path and name of a module or package, or those of the package that it is in."""
    folder, name = SOURCE / Path(test).parent, Path(test).stem.removeprefix("test_")
    is_of_its_folder = name == folder.name and (folder / "__init__.py").is_file()
    modules = folder / f"{name}.py", folder / f"{name}.pyx", folder / name / "__init__.py"
    return is_of_its_folder or any(module.is_file() for module in modules)


@pytest.mark.parametrize("test", FILES)
def test_every_test_mirrors_a_module_or_says_why_it_has_none(test: str) -> None:
    if test in WITHOUT_A_MODULE:
        assert not mirrors(test), f"{test} has a module by now: take it off the list"
    else:
        assert mirrors(test), f"src/declump has no module for {test}: move it, or put it on the list with its reason"


def test_the_list_holds_no_test_that_is_gone() -> None:
    assert set(WITHOUT_A_MODULE) <= set(FILES)


@pytest.mark.parametrize("helper", HELPERS, ids=lambda path: path.stem)
def test_every_shared_helper_is_used(helper: Path) -> None:
    own = ast.parse(helper.read_text(encoding="utf-8"))
    used = {node.id for node in ast.walk(own) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    imported = set()
    for path in [*TESTS.rglob("*.py"), *(TESTS.parent / "paper" / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == f"support.{helper.stem}":
                imported.update(name.name for name in node.names)
    public = {node.name for node in own.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    left_over = {name for name in public - used - imported if not name.startswith("_")}
    assert imported and not left_over
