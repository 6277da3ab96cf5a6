"""Which images a run is about, under which names; and what the engine does with processes that die."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from declump import ShapePrior, batch, simulate
from declump._locks import hold_folder
from declump.batch import Options, Outcome, Source, find_sources
from declump.errors import printable
from support.waiting import LIMIT, wait_until

QUICK = Options(evidence="clump", formats=("contours",))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.png", "b [1].png", "deep/a.jpg", "deep/er/c.png", ".hidden/d.png", "out/a/overlay.png"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (8, 8)).save(path)
    (tmp_path / "in" / "notes.txt").write_text("no image")
    return tmp_path


def names(*given: str, out: str | None = None) -> list[str]:
    return [source.name for source in find_sources(given, out=out)]


def test_names_of_results(tree: Path) -> None:
    everything = ["a", "b [1]", "deep/a", "deep/er/c"]
    assert names("in", out="in/out") == names("in/**", out="in/out") == names("in/", out="in/out") == everything
    assert names(str(tree / "in" / "**"), out=str(tree / "in" / "out")) == everything
    assert names("in/*.png", "in/a.png") == ["a", "b [1]"]
    assert names("in/b [1].png") == ["b [1]"]
    assert names("in/d*/*.jpg") == ["deep/a"] and names("in/deep") == ["a", "er/c"]
    (tree / "in" / "out" / "run.json").write_text("{}")
    assert names("in") == everything


def test_names_that_meet(tree: Path) -> None:
    with pytest.raises(ValueError, match=r"two images are called a .*give the folder above them"):
        find_sources(["in/a.png", "in/deep/a.jpg"])
    Image.new("L", (8, 8)).save(tree / "in" / "deep.png")
    with pytest.raises(ValueError, match="would lie within those of"):
        find_sources(["in"], out="in/out")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        find_sources(["in/none.png"])


def test_masks_of_a_data_set_are_passed_over_with_a_word(tmp_path: Path) -> None:
    for name in ("image", "nuclei", "clump", "cells/cell1", "cells/cell2", "other"):
        path = tmp_path / "data" / "frame1" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (8, 8)).save(path)
    (tmp_path / "data" / "slide.czi").touch()
    said: list[str] = []
    found = find_sources([tmp_path / "data"], note=said.append)
    assert [source.name for source in found] == ["frame1/image", "frame1/other"]
    assert [sentence.split(" in ")[0] for sentence in said] == [
        "passed over 1 of formats that are not read (.czi)",
        "passed over 4 masks and focal planes of a data set",
    ]
    assert len(find_sources([tmp_path / "data" / "frame1" / "nuclei.png"])) == 1
    with pytest.raises(ValueError, match=r"slide\.czi has a format that is not read"):
        find_sources([tmp_path / "data" / "slide.czi"])


def test_files_that_differ_in_their_ending_are_told_apart(tree: Path) -> None:
    Image.new("L", (8, 8)).save("in/a.tif")
    assert names("in", out="in/out") == ["a-png", "a-tif", "b [1]", "deep/a", "deep/er/c"]


def test_pages_are_images(tree: Path) -> None:
    tifffile.imwrite("in/p.tif", np.zeros((3, 8, 8), np.uint8), photometric="minisblack")
    assert find_sources(["in/p.tif"])[2] == Source(Path("in/p.tif"), "p-page0003", 3)
    tifffile.imwrite("in/one.ome.tif", np.zeros((8, 8), np.uint8))
    assert names("in/one.ome.tif") == ["one"]
    (tree / "in" / "cut.tif").write_bytes((tree / "in" / "p.tif").read_bytes()[:100])
    assert names("in/cut.tif") == ["cut"]


def test_a_process_that_dies_costs_one_image(tmp_path: Path) -> None:
    """The image whose process is killed fails; another process goes on with the rest."""
    Image.fromarray(simulate.smear((90, 90), cells=2, radius=18, rng=1).image).save(tmp_path / "good.png")
    os.mkfifo(tmp_path / "stuck.png")  # a process waits here for ever
    sources = [Source(tmp_path / "stuck.png", "stuck"), Source(tmp_path / "good.png", "good")]
    written: list[Outcome] = []
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(batch.run, sources, tmp_path / "out", QUICK, jobs=1, done=written.append)
        try:
            pipe = wait_until(lambda: _open_if_read(tmp_path / "stuck.png"), "a process opens the first image")
        finally:
            for child in multiprocessing.active_children():
                child.kill()
        outcomes = run.result(timeout=LIMIT)
    os.close(pipe)
    assert [outcome.status for outcome in outcomes] == ["failed", "done"] and written == outcomes
    assert "ended unexpectedly (exit code -9)" in outcomes[0].reason


def _open_if_read(pipe: Path) -> int | None:
    """Open a named pipe for writing if somebody is reading it; who writes nothing keeps the reader waiting."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


@pytest.mark.slow
def test_a_changed_image_is_done_again(tmp_path: Path) -> None:
    for index, name in enumerate(("a.png", "b.png")):
        Image.fromarray(simulate.smear((90, 90), cells=2, radius=18, rng=index).image).save(tmp_path / name)
    sources = find_sources([tmp_path / "a.png", tmp_path / "b.png"])
    batch.run(sources, tmp_path / "out", QUICK, jobs=1)
    Image.fromarray(simulate.smear((90, 90), cells=2, radius=18, rng=7).image).save(tmp_path / "b.png")
    again = batch.run(sources, tmp_path / "out", QUICK, jobs=1, resume=True)
    assert [outcome.earlier for outcome in again] == [True, False]
    (tmp_path / "out" / "b" / "mine.txt").write_text("mine")
    anew = batch.run(sources[1:], tmp_path / "out", QUICK, jobs=1, overwrite=True)
    assert not anew[0].earlier and (tmp_path / "out" / "b" / "mine.txt").exists()


def test_a_name_that_results_cannot_have_fails_alone(tmp_path: Path) -> None:
    smear = Image.fromarray(simulate.smear((90, 90), cells=2, radius=18, rng=1).image)
    folder = tmp_path / "in"
    folder.mkdir()
    awkward = ["good.png", "...png", ".declump-x.png", os.fsdecode(b"\xff.png"), "bell\a.png", "good \u202f😀.png"]
    for name in awkward:
        smear.save(folder / name, "PNG")
    tifffile.imwrite(folder / f"{'n' * 250}.tif", np.zeros((2, 8, 8), np.uint8), photometric="minisblack")
    sources = find_sources([folder / name for name in awkward]) + find_sources([folder / f"{'n' * 250}.tif"])
    outcomes = batch.run(sources, tmp_path / "out" / "run", QUICK, jobs=1)
    good = [outcome.source.path.name for outcome in outcomes if outcome.status == "done"]
    assert good == ["good.png", "good \u202f😀.png"]
    for outcome in outcomes:
        if outcome.status == "failed":
            assert outcome.reason.startswith(f"{printable(str(outcome.source.path))} has a name")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["run"]
    content = (tmp_path / "out" / "run" / "run.json").read_text(encoding="utf-8")
    assert "\\\\udcff.png" in content and "\a" not in content


DAMAGE = {
    "cells.csv is missing": lambda out: (out / "a" / "cells.csv").unlink(),
    "cells.csv has changed": lambda out: (out / "a" / "cells.csv").write_text(""),
    "contours.json has changed": lambda out: os.truncate(out / "a" / "contours.json", 100),
    "summary.json is damaged": lambda out: (out / "a" / "summary.json").write_text("{"),
    "the prior has changed": lambda out: ShapePrior.load("round").save(out.parent / "prior.npz"),
}


@pytest.mark.slow
def test_what_was_damaged_is_done_again_and_said(tmp_path: Path) -> None:
    out, prior = tmp_path / "out", tmp_path / "prior.npz"
    for index, name in enumerate(("a.png", "b.png")):
        Image.fromarray(simulate.smear((90, 90), cells=2, radius=18, rng=index).image).save(tmp_path / name)
    ShapePrior.load("default").save(prior)
    how = Options(evidence="clump", prior=str(prior), formats=("contours", "csv"))
    sources = find_sources([tmp_path / "a.png", tmp_path / "b.png"])
    batch.run(sources, out, how, jobs=1)
    before = contents(out)
    for fault, damage in DAMAGE.items():
        damage(out)
        first, second = batch.run(sources, out, how, jobs=1, resume=True)
        assert (first.again, first.earlier, first.status) == (fault, False, "done")
        assert (second.again or fault) == fault and second.earlier == (fault != "the prior has changed")
        assert (contents(out) == before) == second.earlier
    assert all(outcome.earlier for outcome in batch.run(sources, out, how, jobs=1, resume=True))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("how", [{"resume": True}, {"overwrite": True}])
def test_two_runs_do_not_share_a_folder(how: dict[str, bool], tmp_path: Path) -> None:
    out = tmp_path / "out"
    Image.fromarray(simulate.smear((90, 90), cells=2, radius=18, rng=1).image).save(tmp_path / "a.png")
    sources = find_sources([tmp_path / "a.png"])
    with hold_folder(out), ThreadPoolExecutor(1) as pool:
        (out / ".declump-1-draft").touch()
        other = pool.submit(batch.run, sources, out, QUICK, jobs=1, **how)
        with pytest.raises(BlockingIOError, match=r"another run .* is writing into the folder"):
            other.result(timeout=LIMIT)
        assert (out / ".declump-1-draft").is_file() and not (out / "run.json").exists()


@pytest.mark.parametrize("name", ["a", "run.json", "a/summary.json"])
def test_a_run_follows_no_link(name: str, tmp_path: Path) -> None:
    Image.fromarray(simulate.smear((90, 90), cells=2, radius=18, rng=1).image).save(tmp_path / "a.png")
    outside, link = tmp_path / "outside", tmp_path / "out" / name
    outside.mkdir()
    (outside / "summary.json").write_text("mine")
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if name == "a" else outside / "summary.json")
    with pytest.raises(FileExistsError, match="is a link, and declump writes through none"):
        batch.run(find_sources([tmp_path / "a.png"]), tmp_path / "out", QUICK, jobs=1, overwrite=True)
    assert (outside / "summary.json").read_text() == "mine" and link.is_symlink()
