"""The command line as a user meets it: a process of its own, its exit code, its streams and its files."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

import declump
from declump import cli, datasets, io, simulate
from support.waiting import LIMIT, start, wait_until

SMEAR = simulate.smear((160, 200), cells=4, radius=24, rng=5)
NUCLEI = SMEAR.nuclei.any(axis=0)


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "declump.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=LIMIT, check=False)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    folder = tmp_path / "sample"
    folder.mkdir()
    Image.fromarray(SMEAR.clump).save(folder / "clump.png")
    Image.fromarray(NUCLEI).save(folder / "nuclei.png")
    Image.fromarray(SMEAR.image).save(folder / "image.png")
    return folder


def picture(folder: Path, name: str, pixels: np.ndarray) -> Path:
    if name.endswith(".tif"):
        tifffile.imwrite(folder / name, pixels)
    else:
        Image.fromarray(pixels).save(folder / name)
    return folder / name


def shortened(path: Path, share: float) -> Path:
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    return path


def written(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


BAD_CLUMPS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "missing": (lambda f: f / "nowhere.png", "there is no file"),
    "directory": (lambda f: f, "is a folder"),
    "empty file": (lambda f: written(f, "empty.png", b""), "is an empty file"),
    "text": (lambda f: written(f, "text.png", b"I am no image"), "save it as PNG, JPEG or TIFF"),
    "corrupt PNG": (lambda f: written(f, "bad.png", b"\x89PNG\r\n\x1a\n" + bytes(99)), "cannot be read as PNG"),
    "truncated PNG": (lambda f: shortened(f / "clump.png", 0.6), "cannot be read as PNG"),
    "truncated TIFF": (
        lambda f: shortened(picture(f, "c.tif", SMEAR.clump * np.uint8(255)), 0.5),
        "cannot be read as TIFF",
    ),
    "all zero": (lambda f: picture(f, "zero.png", np.zeros((160, 200), np.uint8)), "is empty"),
    "NaN": (lambda f: picture(f, "nan.tif", np.where(SMEAR.clump, np.nan, 0).astype(np.float32)), "NaN or infinite"),
    "photograph": (lambda f: f / "image.png", "black background"),
    "grey levels": (lambda f: picture(f, "grey.png", SMEAR.image[..., 0]), "threshold it first"),
    "pages": (lambda f: picture(f, "pages.tif", np.stack([SMEAR.clump] * 2) * np.uint8(1)), "more than one page"),
    "other size": (lambda f: picture(f, "one.png", np.ones((1, 1), np.uint8)), "give files of the same image"),
}


@pytest.mark.parametrize("kind", BAD_CLUMPS)
def test_bad_clump(kind: str, sample: Path, tmp_path: Path) -> None:
    make, message = BAD_CLUMPS[kind]
    clump = make(sample)
    before = sorted(tmp_path.rglob("*"))
    ended = run("evolve", "--clump", clump, "--nuclei", sample / "nuclei.png", "-o", tmp_path / "out" / "deep")
    assert ended.returncode == 1 and ended.stdout == ""
    assert ended.stderr.startswith("declump: ") and ended.stderr.count("\n") == 1 and message in ended.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_evolve_and_evaluate(sample: Path, tmp_path: Path) -> None:
    """16-bit clump, label image for nuclei, colour picture; then the same again, and the figures."""
    clump = picture(sample, "deep.png", SMEAR.clump.astype(np.uint16) * 40000)
    labels = sum((index + 1) * nucleus.astype(np.uint16) for index, nucleus in enumerate(SMEAR.nuclei))
    nuclei = picture(sample, "labels.tif", labels)
    command = ("evolve", "--clump", clump, "--nuclei", nuclei, "--image", sample / "image.png")
    ended = run(*command, "-o", "one", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "4 cells in" in ended.stdout and f"overlay   {Path('one') / 'overlay.png'}" in ended.stdout
    assert run(*command, "-o", "two", cwd=tmp_path).returncode == 0
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == ["cells.csv", "contours.json", "masks.tif", "overlay.png"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    simulate.write(SMEAR, tmp_path / "frame")
    figures = run("evaluate", "frame", "one", "--json", cwd=tmp_path)
    assert (figures.returncode, figures.stderr) == (0, "")
    record = json.loads(figures.stdout)
    assert record["true_cells"] == record["predicted_cells"] == 4 and record["dice_all"] > 0.8
    assert np.array_equal(io.read_mask_stack(tmp_path / "one" / "masks.tif"), io.read_contours(tmp_path / "one").masks)


def test_an_existing_result_is_kept(sample: Path, here: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    command = ("evolve", "--clump", sample / "clump.png", "--nuclei", sample / "nuclei.png", "-o", tmp_path / "out")
    assert here(*command)[0] == 0
    (tmp_path / "out" / "mine.txt").write_text("mine")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    code, out, error = here(*command)
    assert (code, out) == (1, "") and "is not empty" in error and error.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before
    assert here(*command, "--overwrite")[0] == 0
    assert {*(tmp_path / "out").iterdir()} == {*before}
    assert here(*command[:-1], sample / "clump.png", "--overwrite")[0] == 1


def test_nuclei_outside_the_clump(sample: Path, tmp_path: Path) -> None:
    outside = np.zeros_like(SMEAR.clump)
    row, column = np.argwhere(~SMEAR.clump)[0]
    outside[row, column] = True
    nuclei = picture(sample, "outside.png", outside | NUCLEI)
    ended = run("evolve", "--clump", sample / "clump.png", "--nuclei", nuclei, "-o", tmp_path / "out")
    assert ended.returncode == 0 and ended.stderr.count("\n") == 1
    assert (
        ended.stderr.startswith("declump: warning: 1 of 5 nuclei outside the clump mask") and "cell 1" in ended.stderr
    )
    assert not io.read_contours(tmp_path / "out").radii[0].any()


def test_no_nucleus_and_a_single_pixel(here: Callable[..., tuple[int, str, str]], sample: Path, tmp_path: Path) -> None:
    empty = picture(sample, "none.png", np.zeros((160, 200), np.uint8))
    code, out, error = here("evolve", "--clump", sample / "clump.png", "--nuclei", empty, "-o", tmp_path / "out")
    assert code == 0 and "0 cells" in out and "masks" not in out.splitlines()[-1] and "holds no nucleus" in error
    assert not (tmp_path / "out" / "masks.tif").exists() and len(io.read_contours(tmp_path / "out")) == 0
    one = picture(sample, "one.png", np.ones((1, 1), np.uint8))
    code, out, error = here("evolve", "--clump", one, "--nuclei", one, "-o", tmp_path / "one")
    assert (code, error) == (0, "") and "1 cell in 1 clump" in out


@pytest.mark.parametrize(
    ("option", "code", "message"),
    [
        (("--prior", "nowhere.npz"), 1, "there is no prior at nowhere.npz"),
        (("--scale", "-1"), 1, "the scale is a number > 0"),
        (("--scale", "nan"), 1, "the scale is a number > 0"),
        (("--setting", "other"), 2, "'--setting'"),
        (("--unknown",), 2, "No such option"),
    ],
)
def test_bad_options(
    option: tuple[str, ...],
    code: int,
    message: str,
    here: Callable[..., tuple[int, str, str]],
    sample: Path,
    tmp_path: Path,
) -> None:
    command = ("evolve", "--clump", sample / "clump.png", "--nuclei", sample / "nuclei.png", "-o", tmp_path / "out")
    ended, out, error = here(*command, *option)
    assert (ended, out) == (code, "") and message in error and not (tmp_path / "out").exists()
    assert code == 2 or error.count("\n") == 1


def test_simulate(here: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    options = ("--count", 2, "--cells", 3, "--size", "96x128", "--stain", "grey", "--seed", 4)
    assert here("simulate", "-o", tmp_path / "a", *options)[0] == 0
    assert here("simulate", "-o", tmp_path / "b", *options, "--clean")[0] == 0
    plain, clean = list(datasets.read(tmp_path / "a")), list(datasets.read(tmp_path / "b"))
    assert [frame.name for frame in plain] == ["smear000", "smear001"]
    assert plain[0].cells.shape == (3, 96, 128) and not np.array_equal(plain[0].cells, plain[1].cells)
    for one, other in zip(plain, clean, strict=True):
        assert np.array_equal(one.cells, other.cells) and not np.array_equal(one.image, other.image)
    code, _, error = here("simulate", "-o", tmp_path / "a", *options)
    assert code == 1 and "is not empty; give a new or empty one [help: " in error
    for size in ("0x5", "axb", "1x2x3", "-3", ""):
        code, _, error = here("simulate", "-o", tmp_path / "c", "--size", size)
        assert code in (1, 2) and error and not (tmp_path / "c").exists()


def test_evaluate_forms_of_the_same_cells(here: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    simulate.write(SMEAR, tmp_path / "frame")
    tifffile.imwrite(tmp_path / "stack.tif", SMEAR.cells.astype(np.uint8), photometric="minisblack")
    np.savez(tmp_path / "stack.npz", masks=SMEAR.cells)
    for form in ("frame", "frame/cells", "stack.tif", "stack.npz"):
        code, out, _ = here("evaluate", tmp_path / "frame", tmp_path / form, "--json", "--matching", "hungarian")
        record = json.loads(out)
        assert code == 0 and record["dice_all"] == record["aji"] == 1.0 and record["matching"] == "hungarian"
    code, out, _ = here("evaluate", tmp_path / "frame", tmp_path / "stack.tif")
    assert code == 0 and "dice_all" in out and "1.0000" in out


def test_evaluate_many_images(here: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    for name in ("a", "b"):
        simulate.write(SMEAR, tmp_path / "truth" / name)
        (tmp_path / "found").mkdir(exist_ok=True)
        labels = sum((number * mask.astype(np.uint16) for number, mask in enumerate(SMEAR.cells[:3], start=1)), start=0)
        Image.fromarray(np.asarray(labels, np.uint16)).save(tmp_path / "found" / f"{name}_cp_masks.png")
    worst = tmp_path / "worst.png"
    code, out, error = here("evaluate", tmp_path / "truth", tmp_path / "found", "--json", "--worst", worst)
    figures = json.loads(out)
    assert (code, error) == (0, "") and list(figures["images"]) == ["a", "b"]
    assert figures["all"]["true_cells"] == 2 * len(SMEAR.cells) and len(figures["dice_all_interval"]) == 2
    with Image.open(worst) as picture:
        assert picture.width > 500
    table = here("evaluate", tmp_path / "truth", tmp_path / "found")[1]
    assert "2 images: " in table and "(95 %, over images)" in table


def test_evaluate_without_cells(here: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    simulate.write(simulate.smear((64, 64), cells=0), tmp_path / "frame")
    code, out, _ = here("evaluate", tmp_path / "frame", tmp_path / "frame", "--json")
    assert code == 0 and "NaN" not in out and json.loads(out)["dice_all"] is None
    assert "-" in here("evaluate", tmp_path / "frame", tmp_path / "frame")[1]
    for wrong in ("nowhere", "nowhere.json", "frame/cells"):
        code, out, error = here("evaluate", tmp_path / "frame", tmp_path / wrong)
        assert (code, out) == (1, "") and error.count("\n") == 1


def test_train_prior(here: Callable[..., tuple[int, str, str]], sample: Path, tmp_path: Path) -> None:
    for index, folder in enumerate(("first", "second")):
        smear = simulate.smear((220, 220), cells=4, radius=22, rng=index)
        simulate.write(smear, tmp_path / folder / "frame")
    target = tmp_path / "priors" / "prior.npz"
    command = ("train", "prior", tmp_path / "first", tmp_path / "second", "-o", target, "--rays", 60, "--modes", 2)
    code, out, error = here(*command, "--no-copies", "--no-reach")
    assert (code, error) == (0, "") and "in 2 images" in out and str(target) in out
    prior = declump.ShapePrior.load(target)
    assert prior.modes.shape == (60, 2) and prior.reach is None
    assert prior.card["data"] == ["first", "second"] and prior.card["command"].startswith("declump train prior ")
    assert here(*command)[0] == 1 and declump.ShapePrior.load(target).reach is None
    assert here(*command, "--overwrite")[0] == 0 and declump.ShapePrior.load(target).reach is not None
    inputs = ("--clump", sample / "clump.png", "--nuclei", sample / "nuclei.png")
    assert here("evolve", *inputs, "-o", tmp_path / "out", "--prior", target)[0] == 0
    for folder in (tmp_path / "nowhere", sample):
        code, out, error = here("train", "prior", folder, "-o", tmp_path / "other.npz")
        assert (code, out) == (1, "") and error.count("\n") == 1 and not (tmp_path / "other.npz").exists()


@pytest.mark.slow
@pytest.mark.parametrize("network", ["regions", "rays", "judge"])
def test_a_start_that_is_missing_is_said_before_anything_is_read(
    network: str, here: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    words = ("-o", tmp_path / "own.onnx", "--start", tmp_path / "none.onnx")
    code, out, error = here("train", network, tmp_path / "nowhere", *words)
    assert (code, out) == (1, "") and "none.onnx to begin with" in error


def test_demo(tmp_path: Path, here: Callable[..., tuple[int, str, str]]) -> None:
    ended = run("demo", "-o", "demo", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "mean Dice" in ended.stdout and str(Path("demo") / "result" / "overlay.png") in ended.stdout
    assert ended.stdout.splitlines()[-1].split() == ["report", str(Path("demo") / "report.html")]
    with Image.open(tmp_path / "demo" / "result" / "overlay.png") as overlay:
        assert overlay.size == (512, 512)
    truth, found = tmp_path / "demo" / "sample", tmp_path / "demo" / "result"
    assert json.loads(here("evaluate", truth, found, "--json")[1])["fno"] < 0.2
    before = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    assert here("demo", "-o", tmp_path / "demo")[0] == 1
    (truth / "cells" / "cell999.png").write_bytes(b"left by an older version")
    assert run("demo", "-o", "demo", "--overwrite", cwd=tmp_path).returncode == 0
    assert {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()} == before


def test_help_is_complete() -> None:
    ended = run("--help")
    assert ended.returncode == 0
    assert all(command in ended.stdout for command in ("evolve", "simulate", "evaluate", "train", "demo"))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["train", "regions", "--help"]])
def test_help_and_version_are_quick(arguments: list[str]) -> None:
    probe = (
        f"import atexit, sys; sys.argv = ['declump', *{arguments}]\n"
        "heavy = {'numpy', 'scipy', 'skimage', 'PIL', 'onnxruntime', 'torch'}\n"
        "atexit.register(lambda: print(heavy & set(sys.modules), file=sys.stderr))\n"
        "from declump.cli import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.strip()) == (0, "set()") and ended.stdout


def test_version(here: Callable[..., tuple[int, str, str]]) -> None:
    assert here("--version") == (0, f"declump {declump.__version__}\n", "")


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interruption_is_one_sentence_and_leaves_nothing(number: int, code: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "declump.cli", "simulate", "-o", str(tmp_path / "out"), "--count", "500"]
    with start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: list(tmp_path.glob(".declump-*/draft/*/image.png")), "a first smear", process=process)
        process.send_signal(number)
        out, error = process.communicate(timeout=LIMIT)
    said = "declump: interrupted: what was not finished has not been written; run the same command again\n"
    assert (process.returncode, out, error) == (code, "", said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (MemoryError(), "not enough memory"),
        (PermissionError(13, "Permission denied", "there"), "declump: Permission denied: there [help: "),
        (OSError(28, "No space left on device"), "declump: No space left on device [help: "),
        (KeyError("odd"), "should not (KeyError: 'odd')"),
        (ValueError("two\nlines"), "declump: two lines [help: "),
    ],
)
def test_any_failure_is_one_sentence(
    failure: Exception,
    message: str,
    here: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise failure

    monkeypatch.setattr(simulate, "smear", fail)
    code, out, error = here("simulate", "-o", tmp_path / "out")
    assert (code, out) == (1, "") and message in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("DECLUMP_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["declump", "simulate", "-o", str(tmp_path / "out")])
    with pytest.raises(type(failure)):
        cli.main()
