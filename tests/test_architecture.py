"""Habits of the code that hold for every file: one class of a name, and imports where they can be seen."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import declump

SOURCE = Path(declump.__file__).parent
MODULES = {
    ".".join(("declump", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


AFTER_SIGNALS = ("declump.cli", "declump.cli.app")
"""What is imported only once an interruption is expected."""


def functions_in(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def imported_by(node: ast.stmt, module: str) -> set[str]:
    """Modules that a statement imports; of ``from a import b`` both ``a`` and, if that is a module, ``a.b``."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if not isinstance(node, ast.ImportFrom):
        return set()
    origin = node.module or ""
    if node.level:
        package = module.split(".") if MODULES[module].name == "__init__.py" else module.split(".")[:-1]
        origin = ".".join((*package[: len(package) - node.level + 1], *filter(None, [node.module])))
    inner = {f"{origin}.{alias.name}" for alias in node.names} & MODULES.keys()
    return inner or {origin}


def loads_torch(module: str, visited: frozenset[str] = frozenset()) -> bool:
    """Tell whether importing a module of ``declump.training`` loads torch: at its top, or by another one of them."""
    if module in visited or not module.startswith("declump.training") or module not in TREES:
        return False
    found = {name for node in TREES[module].body for name in imported_by(node, module)}
    return any(name.split(".")[0] == "torch" or loads_torch(name, visited | {module}) for name in found)


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_functions_import_nothing_of_the_package_but_what_loads_torch() -> None:
    hidden = {
        f"{module}, line {node.lineno}: {name}"
        for module, tree in TREES.items()
        for function in functions_in(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported_by(node, module)
        if name.split(".")[0] == "declump" and not loads_torch(name) and (module, name) != AFTER_SIGNALS
    }
    assert sorted(hidden) == []


def test_what_loads_torch_is_told_from_what_does_not() -> None:
    assert loads_torch("declump.training.loop") and loads_torch("declump.training.regions.train")
    assert not loads_torch("declump.training.prior") and not loads_torch("declump.training")


def test_onnxruntime_which_is_kept_off_the_network_is_imported_in_one_place() -> None:
    places = {
        module
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported_by(node, module)
        if name.split(".")[0] == "onnxruntime"
    }
    assert places == {"declump.models"}
