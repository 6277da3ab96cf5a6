"""Runs what the pages show: every block of Python, and every command.

    python docs/code_blocks.py              # all pages
    python docs/code_blocks.py method.md    # some

The blocks of a page run in order, in one namespace and in a folder with small simulated images. Commands of the pages
"Start here" are run, too; those of other pages, which name files and folders of the reader, are given to the parser
of the command line, so that no page shows a command or an option that does not exist.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
import typer
from PIL import Image

import declump
from declump.cli.app import app
from declump.datasets import AnnotatedImage

DOCS = Path(__file__).parent
PAGES = sorted([*DOCS.glob("*.md"), *(DOCS / "results").glob("*.md")])
PAGES += [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"]
PAPER = DOCS.parent / "paper"
PAPER_PAGES = sorted([PAPER / "README.md", *(PAPER / "docs").rglob("*.md")])
"""Pages of the paper's package, which has to be installed for them."""
GENERATED = ("reference.md",)
"""Pages that show how commands look, not commands."""
NOT_RUN = ("pip", "make", "docker", "python", "git", "declump open", "declump demo")
"""Commands of the pages "Start here" that are not run: they install, wait for a person, or are run by other tests."""


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """Line and text of the blocks of Python of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in found]


def commands(page: Path) -> Iterator[tuple[int, str]]:
    """Line and text of the commands that a page shows, in fenced and indented blocks."""
    inside = ""
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if line.startswith(("```", ":::")):
            inside = "" if inside else line.strip("`:{} ") or "text"
        elif (inside == "sh" or (not inside and line.startswith("    "))) and line.strip().startswith("declump "):
            command = line.strip()
            following = number
            while command.endswith("\\"):
                command = command[:-1] + lines[following].strip()
                following += 1
            yield number, command


def words_of(command: str) -> list[str]:
    """Words of a command without its name: of alternatives the first, without brackets and dots."""
    words = shlex.split(command.partition(" && ")[0], comments=True)[1:]
    return [word.strip("[]").partition("|")[0] for word in words if word not in ("...", "…")]


def check_command(words: list[str]) -> None:
    """Give a command to the parser of the command line, which raises what is wrong with it."""
    command: Any = typer.main.get_command(app)
    context = command.context_class(command, info_name="declump")
    while hasattr(command, "commands"):
        if words[0].startswith("-"):  # these act as soon as they are parsed
            known = {name for parameter in command.get_params(context) for name in parameter.opts}
            if words[0] not in known:
                raise ValueError(f"there is no option {words[0]}")
            return
        if words[0] not in command.commands:
            raise ValueError(f"there is no command {words[0]}")
        command = command.commands[words[0]]
        context = command.context_class(command, info_name=words[0], parent=context)
        words = words[1:]
    command.make_context(context.info_name, words, parent=context.parent)


def run_page(page: Path) -> int:
    """Run the blocks of a page in a folder of its own; gives how many there were."""
    count = 0
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            blocks = python_blocks(page)
            names = prepare(Path(folder)) if blocks or page.name.startswith("start-") else {}
            for line, block in blocks:
                # Line numbers of errors are those of the page.
                code = compile("\n" * (line - 1) + block, str(page), "exec")
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(code, names)
                count += 1
            for line, command in commands(page):
                count += 1
                try:
                    check_command(words_of(command))
                except Exception as error:  # the parser's own, whichever library they are from
                    raise ValueError(f"{page.name}, line {line}: {command}: {error}") from error
                if page.name.startswith("start-") and not command.startswith(NOT_RUN):
                    run_command(command, f"{page.name}, line {line}")
        finally:
            os.chdir(before)
    return count


def run_command(command: str, place: str) -> None:
    """Run a command in the folder of a page."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told):
            app(words_of(command), prog_name="declump")
    except SystemExit as end:
        if end.code:
            raise ValueError(f"{place}: {command} ended with {end.code}: {told.getvalue()}") from end


def prepare(folder: Path) -> dict[str, Any]:
    """Write small images that commands name, and give the names that blocks use for what a reader has."""
    smear = declump.simulate.smear((190, 210), cells=4, clumps=2, radius=32, stain="grey", rng=4)
    labels = np.zeros(smear.clump.shape, dtype=np.int32)
    for index, nucleus in enumerate(smear.nuclei, start=1):
        labels[nucleus] = index
    declump.simulate.write(smear, folder / "isbi2015" / "frame001")
    (folder / "slides").mkdir()
    for name in ("slides/one.png", "slides/two.png", "smear.png", "image.png"):
        Image.fromarray(smear.image).save(folder / name)
    for name, mask in (("mask.png", smear.clump), ("clump.png", smear.clump), ("nuclei.png", labels > 0)):
        Image.fromarray(mask).save(folder / name)
    tifffile.imwrite(folder / "truth.tif", smear.cells.astype(np.uint8) * 255, photometric="minisblack")
    frames = [AnnotatedImage("smear", smear.image, smear.cells, labels, smear.seeds)]
    for number in range(3):
        other = declump.simulate.smear((150, 170), cells=3, clumps=1, radius=26, stain="grey", rng=number)
        marks = np.zeros(other.clump.shape, dtype=np.int32)
        for index, nucleus in enumerate(other.nuclei, start=1):
            marks[nucleus] = index
        frames.append(AnnotatedImage(f"smear{number}", other.image, other.cells, marks, other.seeds))
    segmentation = declump.segment(smear.image)
    return {
        "declump": declump,
        "np": np,
        "image": smear.image,
        "images": frames,
        "mask": smear.clump,
        "clump_mask": smear.clump,
        "seeds": smear.seeds,
        "masks": smear.cells,
        "regions": declump.Regions(smear.clump, labels),
        "segmentation": segmentation,
        "segment": lambda frame: declump.evolve(frame.cells.any(axis=0), frame.seeds).masks,
    }


def main() -> None:
    """Run some pages, or all."""
    every = [*PAGES, *(PAPER_PAGES if find_spec("declump_paper") else [])]
    chosen = [page for page in every if not sys.argv[1:] or page.name in sys.argv[1:]]
    total = 0
    for page in chosen:
        if page.name not in GENERATED:
            count = run_page(page)
            total += count
            print(f"{page.name}: {count}", flush=True)
    print(f"{total} blocks and commands of {len(chosen)} pages")


if __name__ == "__main__":
    main()
