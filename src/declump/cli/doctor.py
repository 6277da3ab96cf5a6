"""``declump doctor``: what is installed, what the machine gives, and whether all of it works together."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module, metadata, resources
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

import declump
from declump._files import file_digest
from declump._installation import how_to_install
from declump.cli.terminal import tell
from declump.errors import HELP_PAGE, sentence
from declump.models import THREADS, read_card

Facts = Iterator[tuple[str, object]]
FEATURES = ("SSE42", "AVX", "AVX2", "FMA3", "AVX512F", "NEON", "SVE")


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, to attach to a report.")] = False,
    test: Annotated[bool, typer.Option("--test/--no-test", help="Whether to run the self-test.")] = True,
) -> None:
    """Say what is installed and what the machine gives, and test that everything works together."""
    parts = {
        "installation": list(_installation()),
        "machine": list(_machine()),
        "packages": list(_packages()),
        "models": list(_models()),
    }
    if not json:
        for title, facts in parts.items():
            typer.echo(title)
            for name, value in facts:
                typer.echo(f"  {name:<18} {value}")
    outcomes = []
    if test:
        if not json:
            typer.echo("self-test")
        for name, check in CHECKS.items():
            outcome = _try(name, check)
            outcomes.append(outcome)
            if not json:
                typer.echo(f"  {name:<18} {outcome['result']} ({outcome['seconds']:.1f} s)")
    failed = [outcome["name"] for outcome in outcomes if not outcome["passed"]]
    if json:
        typer.echo(dumps({**{title: dict(facts) for title, facts in parts.items()}, "self-test": outcomes}, indent=1))
    if failed:
        tell(f"the self-test failed at: {', '.join(failed)}; please report it with what 'declump doctor --json' prints")
        raise typer.Exit(1)


def _installation() -> Facts:
    yield "declump", declump.__version__
    yield "folder", str(Path(declump.__file__).parent)
    yield "python", f"{platform.python_version()} ({sys.executable})"
    yield "help", HELP_PAGE.as_uri()


def _machine() -> Facts:
    limits = import_module("declump.batch.resources")
    free = limits.free_memory()
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield "processor", _processor()
    yield "cores", limits.usable_cores()
    yield "free memory", "unknown" if free is None else f"{free / 2**30:.1f} GB"
    for name in (THREADS, "OMP_NUM_THREADS"):
        yield name, os.environ.get(name, "not set: all cores")
    yield "temporary files", tempfile.gettempdir()


def _processor() -> str:
    """Name of the processor, and what it can do at once: numpy's sums are rounded otherwise by other instructions."""
    told = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", told.read_text() if told.exists() else "", re.MULTILINE)
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    known = [name for name in FEATURES if features.get(name)]
    return f"{names[0] if names else platform.processor() or 'unknown'}: {', '.join(known)}"


def _packages() -> Facts:
    """Versions of what declump needs, and of what its extras add; what is missing comes with the command for it."""
    told = set()
    for line in metadata.requires("declump") or ():
        name = re.split(r"[^\w.-]", line.strip(), maxsplit=1)[0]
        extra = line.partition("extra ==")[2].strip(" \"'")
        if extra in ("test", "docs") or name in told:
            continue
        told.add(name)
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            yield name, f"not installed: {how_to_install(extra)}" if extra else "MISSING"


def _models() -> Facts:
    folder = Path(str(resources.files("declump") / "data"))
    for path in sorted((*folder.glob("*.onnx"), *folder.glob("*.npz"))):
        size = f"{path.stat().st_size / 2**10:,.0f} kB, SHA-256 {file_digest(path)[:12]}"
        learnt = read_card(path).get("data", []) if path.suffix == ".onnx" else []
        yield path.name, f"{size}, learnt from {', '.join(learnt)}" if learnt else size


def _try(name: str, check: Callable[[], str]) -> dict[str, Any]:
    start = time.monotonic()
    try:
        passed, result = True, check()
    except Exception as error:  # whatever is wrong here is what the user asked for
        passed, result = False, f"FAILED: {sentence(error)}"
    return {"name": name, "passed": passed, "result": result, "seconds": round(time.monotonic() - start, 3)}


def _sample() -> declump.simulate.Smear:
    return declump.simulate.smear((256, 256), cells=4, overlap=0.4, rng=3)


def _check_evolution() -> str:
    smear = _sample()
    return _good("Dice", declump.score(smear.cells, declump.evolve(smear.clump, smear.seeds).masks).dice_all, 0.75)


def _check_networks() -> str:
    smear = _sample()
    return _good("Dice", declump.score(smear.cells, declump.segment(smear.image).masks).dice_all, 0.75)


def _check_repetition() -> str:
    smear = _sample()
    one, two = (declump.segment(smear.image).radii.tobytes() for _ in range(2))
    if one != two:
        raise ValueError("the same image gave other outlines the second time")
    return "the same bytes twice"


def _check_files() -> str:
    smear = _sample()
    result = declump.evolve(smear.clump, smear.seeds)
    with tempfile.TemporaryDirectory() as folder:
        written = declump.io.write_results(result, Path(folder) / "out")
        read = declump.io.read(Path(folder) / "out")
    if len(read) != len(result) or declump.score(result.masks, read.masks).dice_all < 0.999:
        raise ValueError("what was read is not what was written")
    return f"{len(written)} files written, and the outlines read again"


def _good(name: str, value: float, least: float) -> str:
    if not value >= least:
        raise ValueError(f"{name} is {value:.3f}, less than {least}")
    return f"{name} {value:.3f} on a simulated smear"


CHECKS: dict[str, Callable[[], str]] = {
    "evolution": _check_evolution,
    "networks": _check_networks,
    "repetition": _check_repetition,
    "files": _check_files,
}
"""Parts of the self-test, in the order in which they build on each other."""
