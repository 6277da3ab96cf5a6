"""Writes docs/reference.md: all commands with their options, and all public names, from what they say of themselves.

python docs/reference.py
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import declump
from declump.cli import app

PAGE = Path(__file__).with_name("reference.md")
HEAD = """# Reference

Written by `python docs/reference.py` from the command line's own help and the docstrings; what the files mean is told in
[the command line](command-line.md) and [formats](formats.md).
"""
MODULES = ("io", "simulate", "pictures", "evaluation", "datasets", "batch")


def reference() -> str:
    """Text of the page."""
    root: Any = typer.main.get_command(app)
    parts = [HEAD, "## Commands"]
    parts += [_command(name, command) for name, command in _commands("declump", root)]
    parts += ["## Python", _names("declump", declump)]
    for name in MODULES:
        module = __import__(f"declump.{name}", fromlist=["__all__"])
        parts += [f"### declump.{name}", _sentence(module), _names(f"declump.{name}", module)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Walk over all commands that do something."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for part, inner in command.commands.items():
        yield from _commands(f"{name} {part}", inner)


def _command(name: str, command: Any) -> str:
    arguments = [option for option in command.params if option.param_type_name == "argument"]
    usage = " ".join([name, *(option.human_readable_name.upper() for option in arguments), "[OPTIONS]"])
    lines = [f"### {name}", "", inspect.cleandoc(command.help or ""), "", f"    {usage}", ""]
    lines += ["| option | takes | by default | meaning |", "|---|---|---|---|"]
    for option in command.params:
        if option.name != "help":
            lines.append("| " + " | ".join(_cell(text) for text in _option(option)) + " |")
    return "\n".join(lines)


def _option(option: Any) -> tuple[str, str, str, str]:
    if option.param_type_name == "argument":
        names = option.human_readable_name.upper()
    else:
        names = ", ".join(f"`{name}`" for name in option.opts)
    flag = getattr(option, "is_flag", False)
    takes = "" if flag else option.metavar or getattr(option.type, "choices", None) or option.type.name
    takes = takes if isinstance(takes, str) else ", ".join(map(str, takes))
    default = "required" if option.required else "" if flag or option.default in (None, [], ()) else str(option.default)
    return names, takes, default, getattr(option, "help", None) or ""


def _names(home: str, module: Any) -> str:
    lines = ["| name | does |", "|---|---|"]
    for name in sorted(module.__all__):
        thing = getattr(module, name)
        if inspect.ismodule(thing) or not callable(thing):
            lines.append(f"| `{home}.{name}` | {_cell(_sentence(thing) if inspect.ismodule(thing) else 'see its page')} |")
            continue
        given = "(" + ", ".join(_parameters(thing)) + ")"
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
        yield parameter.name if parameter.default is parameter.empty else (
            f"{parameter.name}={parameter.default!r}" if plain else f"{parameter.name}=..."
        )


def _sentence(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
