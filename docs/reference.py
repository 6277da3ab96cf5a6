"""Writes docs/reference.md: all commands with their options, and all public names, from what they say of themselves.

python docs/reference.py

Also puts the recipes of docs/architecture.md into CONTRIBUTING.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo

import declump
from declump.cli.app import app

PAGE = Path(__file__).with_name("reference.md")
CONTRIBUTING = PAGE.parents[1] / "CONTRIBUTING.md"
HEAD = """# Reference

Written by `python docs/reference.py` from the command line's own help and the docstrings; what the files mean is told
in [the command line](command-line.md) and [formats](formats.md).
"""
MODULES = (
    "io", "data", "simulate", "pictures", "evaluation", "datasets", "batch", "report", "slides", "review",
)  # fmt: skip


def reference() -> str:
    """Text of the page."""
    parts = [HEAD, "## Commands"]
    parts += [_command(name, action) for name, action in _commands("declump", app)]
    parts += ["## Python", _names("declump", declump)]
    for name in MODULES:
        module = import_module(f"declump.{name}")
        parts += [f"### declump.{name}", _sentence(module), _names(f"declump.{name}", module)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _commands(name: str, group: typer.Typer) -> Iterator[tuple[str, Callable[..., None]]]:
    """Walk over all commands, those of the group itself first."""
    for command in group.registered_commands:
        action = command.callback
        assert action is not None
        if action.__module__.partition(".")[0] != declump.__name__:
            continue  # of another package
        yield f"{name} {command.name or action.__name__}", action
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from _commands(f"{name} {inner.name}", inner.typer_instance)


def _command(name: str, action: Callable[..., None]) -> str:
    hints, parameters = get_type_hints(action, include_extras=True), inspect.signature(action).parameters
    rows, arguments = [], []
    for parameter in parameters.values():
        hint, told = get_args(hints[parameter.name])
        if isinstance(told, ArgumentInfo):
            names = told.metavar or parameter.name.upper()
            arguments.append(f"{names}..." if get_origin(hint) is list else names)
        else:
            # In an annotation typer takes the first name for a default.
            written = [name for name in (told.default, *(told.param_decls or ())) if isinstance(name, str)]
            names = ", ".join(f"`{name}`" for name in written or [f"--{parameter.name.replace('_', '-')}"])
        rows.append((names, told.metavar or _takes(hint), _default(parameter.default), told.help or ""))
    lines = [f"### {name}", "", inspect.getdoc(action) or "", "", f"    {' '.join([name, *arguments])} [OPTIONS]", ""]
    lines += ["| option | takes | by default | meaning |", "|---|---|---|---|"]
    return "\n".join([*lines, *("| " + " | ".join(map(_cell, row)) + " |" for row in rows)])


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None or value is False else str(value)


def _takes(hint: Any) -> str:
    """Kind of value of an option, in a word or the values themselves."""
    if get_origin(hint) is Literal:
        return ", ".join(get_args(hint))
    if get_origin(hint) in (Union, UnionType, list, tuple):
        return " ".join(filter(None, map(_takes, get_args(hint))))
    return {bool: "", NoneType: "", str: "text", int: "whole number", float: "number", Path: "path"}[hint]


def _names(home: str, module: Any) -> str:
    lines = ["| name | does |", "|---|---|"]
    for name in sorted(module.__all__):
        thing = getattr(module, name)
        if not inspect.ismodule(thing) and not callable(thing):
            continue  # a constant
        plain = inspect.ismodule(thing) or (inspect.isclass(thing) and issubclass(thing, Exception))
        given = "" if plain else f"({', '.join(_parameters(thing))})"
        lines.append(f"| `{home}.{name}{given}` | {_cell(_sentence(thing))} |")
    return "\n".join(lines)


def _parameters(thing: Any) -> Iterator[str]:
    """Names of the arguments, with their defaults; a star stands before those that are given by name alone."""
    starred = False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        plain = isinstance(parameter.default, str | int | float | bool | tuple | None)
        yield (
            parameter.name
            if parameter.default is parameter.empty
            else (f"{parameter.name}={parameter.default!r}" if plain else f"{parameter.name}=...")
        )


def _sentence(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def contributing() -> str:
    """Text of CONTRIBUTING.md, with the recipes of the page on the architecture."""
    recipes = PAGE.with_name("architecture.md").read_text(encoding="utf-8").partition("## Recipes\n")[2]
    table = "\n".join(line for line in recipes.partition("\n## ")[0].splitlines() if line.startswith("|"))
    before, start, rest = CONTRIBUTING.read_text(encoding="utf-8").partition("<!-- recipes -->\n")
    return f"{before}{start}{table}\n<!-- end recipes -->{rest.partition('<!-- end recipes -->')[2]}"


if __name__ == "__main__":
    CONTRIBUTING.write_text(contributing(), encoding="utf-8")
    PAGE.write_text(reference(), encoding="utf-8")
