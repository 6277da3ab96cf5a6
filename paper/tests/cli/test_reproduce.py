"""``declump reproduce`` as a user meets it: a process of its own, its exit code, its streams and its files."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import declump
from declump import cli, simulate
from support.waiting import LIMIT, start, wait_until

ROOT = Path(__file__).resolve().parents[3]
QUICK = ("--folds", 2, "--methods", "joint,L,F")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "declump.cli", "reproduce", *map(str, arguments)]


def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, cwd=cwd, timeout=LIMIT, check=False)


def hashes(folder: Path) -> dict[str, str]:
    """All files that do not tell how long anything took."""
    timed = ("times.csv", "results.md", "results.html", "tables.tex")
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in timed]
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
        if not path.name.endswith(".seconds.json")
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four small smears in our own layout."""
    folder = tmp_path_factory.mktemp("reproduce")
    for index in range(4):
        simulate.write(
            simulate.smear((170, 170), cells=5, radius=22, overlap=0.5, clumps=2, rng=index),
            folder / "data" / f"s{index}",
        )
    return folder


@pytest.fixture(scope="module")
def done(place: Path) -> dict[str, str]:
    """Files of a run of two processes."""
    ended = run("folder", "--data", "data", "-o", "out", *QUICK, "--jobs", 2, cwd=place)
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert lines[0] == "4 images, 3 methods, 2 folds"
    assert [Path(line.split()[1]).name for line in lines[1:]] == [
        "results.html",
        "results.md",
        "tables.tex",
        "comparison.png",
    ]
    return hashes(place / "out")


@pytest.mark.slow
def test_the_folder_holds_tables_in_all_ways_of_writing(place: Path, done: dict[str, str]) -> None:
    out = place / "out"
    assert {"run.json", "folds.csv", "table1.csv", "table2.csv", "table3.csv", "comparison.png"} <= set(done)
    with (out / "table2.csv").open() as file:
        rows = list(csv.DictReader(file))
    overall = {row["method"]: float(row["value"]) for row in rows if row["figure"] == "overall"}
    assert overall.keys() == {"joint", "L", "F"} and all(0.5 < value <= 1 for value in overall.values())
    text, page = (out / "results.md").read_text(), (out / "results.html").read_text()
    for title in ("Table I: pixels", "Table II: Dice by overlap degree", "Table III: declump against", "Run time"):
        assert f"## {title}" in text and title in page
    assert "data:image/png;base64," in page and "<script" not in page
    assert (out / "tables.tex").read_text().count(r"\begin{table*}") == 5
    record = json.loads((out / "run.json").read_text())
    assert record["command"] == "declump reproduce folder --methods joint,L,F --folds 2"
    assert [len(fold["train"]) for fold in record["folds"]] == [2, 2]
    assert not (out / ".declump-images").exists()


@pytest.mark.slow
def test_a_run_that_is_done_is_not_done_again(place: Path, done: dict[str, str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in (place / "out" / "parts").rglob("*.npz")}
    refused = run("folder", "--data", "data", "-o", "out", *QUICK, cwd=place)
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1 and "--resume it" in refused.stderr
    whole = (place / "out" / "results.html").read_bytes()
    again = run("folder", "--data", "data", "-o", "out", *QUICK, "--resume", cwd=place)
    assert again.returncode == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert hashes(place / "out") == done and (place / "out" / "results.html").read_bytes() == whole


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="processes are ended otherwise there")
def test_killed_and_resumed_the_bytes_are_the_same(place: Path, done: dict[str, str]) -> None:
    arguments = ("folder", "--data", "data", "-o", "killed", *QUICK)
    with start(command(*arguments, "--jobs", 1), cwd=place, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: list((place / "killed").glob("parts/*/*.npz")), "a first part", process=process)
        process.kill()
    assert not (place / "killed" / "table1.csv").exists()
    ended = run(*arguments, "--jobs", 1, "--resume", cwd=place)
    assert ended.returncode == 0
    assert hashes(place / "killed") == done


@pytest.mark.slow
def test_studies_are_drawn(place: Path) -> None:
    out = place / "studied"
    ended = run("folder", "--data", "data", "-o", out, "--folds", 2, "--methods", "none", "--study", "E", cwd=place)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (out / "study-E-accuracy.svg").read_text().count("<circle") == 12
    assert "Study of threshold E*" in (out / "results.html").read_text() and not (out / "table1.csv").exists()


@pytest.mark.slow
def test_two_stains_share_their_folds_and_have_tables_of_their_own(tmp_path: Path) -> None:
    pooled = ("simulated-pap+simulated-he", "--images", 2, "--cells", 4, "--folds", 2, "--methods", "L,joint")
    ended = run(*pooled, "-o", "out", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[0] == "4 images, 2 methods, 2 folds"
    names = {path.name for path in (tmp_path / "out").glob("*.csv")}
    assert {"table2-simulated-pap.csv", "table2-simulated-he.csv", "folds.csv"} <= names and "table2.csv" not in names
    text = (tmp_path / "out" / "results.md").read_text()
    assert "Simulated smears, H&E stain. Table II" in text and "*Ours-L as printed*" in text
    assert "--cells 4" in json.loads((tmp_path / "out" / "run.json").read_text())["command"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("isbi2013",), "there is no data set 'isbi2013'; the data sets are isbi2014, isbi2015, folder, coco"),
        (("isbi2015",), "tell where they are with --data"),
        (("isbi2015", "--data", "nowhere"), "there is no nowhere"),
        (("simulated-he", "--data", "data"), "leave out --data"),
        (("isbi2015+simulated-he",), "tell where they are with --data"),
        (("simulated-he+moon",), "there is no data set 'moon'"),
        (("folder", "--data", "data", "--methods", "cf+"), "nuclei are completed where they are found"),
        (("folder", "--data", "data", "--methods", "joint,G"), "there is no method 'G'"),
        (("folder", "--data", "data", "--methods", "rays"), "'rays' needs --rays"),
        (("folder", "--data", "data", "--study", "x"), "there is no study 'x'"),
        (("folder", "--data", "data", "--regions", "true", "--regions", "a.onnx"), "given were true, a.onnx together"),
        (("folder", "--data", "data", "--regions", "a.onnx"), "there is no model a.onnx"),
        (("folder", "--data", "data", "--refined"), "these regions are the true ones"),
        (("folder", "--data", "data", "--judge", "judge.onnx"), "give those models with --regions"),
        (("folder", "--data", "data", "--architecture", "paper"), "give it with '--regions train'"),
        (("folder", "--data", "data", "--folds", "9"), "use fewer folds or more images"),
        (("folder", "--data", "data", "--reference", "star2"), "none of the methods that are run"),
        (
            ("folder", "--data", "data", "--regions", ROOT / "benchmarks" / "models" / "regions-a.onnx"),
            "the models have seen every image of this data, or none of it",
        ),
        (
            ("folder", "--data", "data", "--regions", Path(declump.__file__).parent / "data" / "regions.onnx"),
            "does not tell which images it did not see",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    arguments: tuple[object, ...],
    said: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    for name in ("raise_on_signals", "ignore_signals"):
        monkeypatch.setattr(cli, name, lambda: None)
    monkeypatch.setattr(sys, "argv", ["declump", "reproduce", *map(str, arguments), "-o", "refused"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    told = capsys.readouterr()
    assert ended.value.code == 1 and told.out == ""
    assert told.err.startswith("declump: ") and told.err.count("\n") == 1 and said in told.err
    assert not list(place.glob("refused/**/*.npz"))
