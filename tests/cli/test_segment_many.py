"""Many images on the command line: several processes, a damaged file, interruptions, and going on afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from declump import simulate
from support.waiting import LIMIT, start, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")]
OPTIONS = ("--evidence", "clump", "--format", "csv,coco,zarr,png")
BAD = "slides/second/s03.png"


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "declump.cli", "segment", *map(str, arguments)]


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=LIMIT, check=False, cwd=folder)


def hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def without_verdicts(error: str) -> list[str]:
    """Lines of the error stream but for warnings on single images."""
    return [line for line in error.splitlines() if not line.startswith("declump: warning: ")]


def gone(group: int) -> bool:
    """Whether no process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve images in two folders that share names, one of them damaged."""
    place = tmp_path_factory.mktemp("batch")
    for index in range(12):
        target = place / "slides" / ("second" if index % 2 else "first") / f"s{index // 2:02d}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(simulate.smear((160, 160), cells=3, radius=24, rng=index).image).save(target)
    (place / BAD).write_bytes((place / BAD).read_bytes()[:900])
    return place


@pytest.fixture(scope="module")
def reference(folder: Path) -> dict[str, str]:
    """Files of a run by one process, with what it prints for people."""
    ended = run(folder, "slides", "-o", "one", *OPTIONS, "--jobs", 1)
    assert ended.returncode == 1
    lines = ended.stdout.splitlines()
    assert [line.startswith(f"[{number}/12] slides") for number, line in enumerate(lines[:12], start=1)] == [True] * 12
    assert any("12" in line and line.count("│") == 5 for line in lines[12:]) and "one/images.csv" in ended.stdout
    failed, reason = without_verdicts(ended.stderr)
    assert failed == "declump: 1 of 12 images failed:"
    assert reason.startswith(f"declump: {BAD}: cannot be read as PNG")
    files = hashes(folder / "one")
    assert "second/s01/cells.csv" in files and "first/s02/cells.ome.zarr/.zattrs" in files
    return files


def test_two_processes_write_the_same_bytes(folder: Path, reference: dict[str, str]) -> None:
    ended = run(folder, "slides", "-o", "two", *OPTIONS, "--jobs", 2, "--json")
    assert ended.returncode == 1 and len(without_verdicts(ended.stderr)) == 2
    *images, summary = map(json.loads, ended.stdout.splitlines())
    assert hashes(folder / "two") == reference
    assert [record["event"] for record in images] == ["image"] * 12 and summary["event"] == "summary"
    assert (summary["images"], summary["failed"], summary["earlier"]) == (12, 1, 0)
    assert summary["cells"] == sum(record["cells"] or 0 for record in images) > 12
    assert [record["path"] for record in images if record["status"] == "failed"] == [BAD]
    content = json.loads((folder / "two" / "run.json").read_text())
    assert (
        content["command"]
        == "declump segment slides " + " ".join(OPTIONS[:-1]) + " contours,csv,others,overlay,coco,ome-zarr"
    )
    assert [image["path"] for image in content["images"]] == sorted(record["path"] for record in images)


def test_killed_and_resumed_the_bytes_are_the_same(folder: Path, reference: dict[str, str]) -> None:
    arguments = ("slides/**", "-o", "killed", *OPTIONS)
    with start(command(*arguments, "--jobs", 2), cwd=folder, stdout=subprocess.DEVNULL) as process:
        wait_for_results(folder / "killed", 2, process)
        process.kill()
    done = finished(folder / "killed")
    assert 2 <= done < 11
    assert {image["status"] for image in json.loads((folder / "killed" / "run.json").read_text())["images"]} == {
        "pending"
    }
    other = run(folder, *arguments, "--resume", "--diameter", 20)
    assert other.returncode == 1 and other.stderr.count("\n") == 1 and "diameter was None, now 20.0" in other.stderr
    again = run(folder, *arguments)
    assert again.returncode == 1 and again.stderr.count("\n") == 1 and "resume it" in again.stderr
    wait_until(lambda: gone(process.pid), "the end of the processes whose parent was killed")
    ended = run(folder, *arguments, "--resume", "--json")
    assert ended.returncode == 1
    assert json.loads(ended.stdout.splitlines()[-1])["earlier"] >= done
    files = hashes(folder / "killed")
    # The pattern is part of what run.json tells; all else is the same as for the folder.
    told = (folder / "killed" / "run.json").read_text().replace("'slides/**'", "slides")
    assert told == (folder / "one" / "run.json").read_text()
    assert {**files, "run.json": ""} == {**reference, "run.json": ""}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interruption_ends_all_and_leaves_nothing_half_written(number: int, code: int, folder: Path) -> None:
    out = folder / f"stopped{number}"
    words = command("slides", "-o", out, *OPTIONS, "--jobs", 2)
    with start(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for_results(out, 1, process)
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        _, error = process.communicate(timeout=LIMIT)
    assert process.returncode == code
    said, *more = without_verdicts(error)
    assert not more, error
    assert re.fullmatch(r"declump: interrupted: \d+ of 12 images done; .* with --resume .* goes on", said)
    wait_until(lambda: gone(process.pid), "the end of all processes")
    files = hashes(out)
    assert not [name for name in files if ".declump-" in name] and not list(out.rglob(".declump-*"))
    folders = {place.parent for place in out.rglob("contours.json")}
    assert folders and all((place / "summary.json").is_file() for place in folders)


def finished(out: Path) -> int:
    """Count the images that are done; files may come and go meanwhile."""
    count = 0
    for _, folders, files in os.walk(out):
        folders[:] = [name for name in folders if not name.startswith(".")]
        count += "summary.json" in files
    return count


def wait_for_results(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    wait_until(lambda: finished(out) >= count, f"results of {count} images", process=process)
