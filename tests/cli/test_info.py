"""``declump info``: what a file says of itself."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import declump
from declump.cli.app import app
from declump.cli.info import facts
from declump.io import FORMATS, write_results
from support.segmentations import segmentation

WRITTEN = [name for name in FORMATS if name != "others"]
"""Formats that every result has; what is no nucleus is told of only where a judge looked."""
DATA = Path(declump.__file__).parent / "data"


def told(path: Path) -> str:
    answer = CliRunner().invoke(app, ["info", str(path)], catch_exceptions=False)
    assert answer.exit_code == 0
    return answer.output


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    write_results(segmentation(), folder, formats=tuple(FORMATS))
    return folder


@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_is_known(results: Path, name: str) -> None:
    found = dict(facts(results / FORMATS[name].file))
    assert FORMATS[name].meaning.partition(",")[0] in str(found["format"])
    assert found["cells"] == 6
    if name != "csv":
        assert found["image"] == "60 x 70 pixels" and found["clumps"] == 2
        assert f"version {2 if name == 'contours' else 1}" in str(found["format"])


def test_a_folder(results: Path) -> None:
    answer = told(results)
    assert "a folder of results" in answer and "60 x 70 pixels" in answer
    assert all(FORMATS[name].file in answer for name in WRITTEN)


def test_models() -> None:
    assert "360" in told(DATA / "prior.npz") and "data:" in told(DATA / "prior.npz")
    assert "network of" in told(DATA / "regions.onnx") and "seed:" in told(DATA / "regions.onnx")


def test_all_that_a_run_writes_is_known(tmp_path: Path) -> None:
    Image.fromarray(declump.simulate.smear((90, 90), cells=2, radius=18, rng=1).image).save(tmp_path / "a.png")
    out = tmp_path / "out"
    options = declump.batch.Options(evidence="clump", formats=("contours", "csv"))
    declump.batch.run(declump.batch.find_sources([tmp_path / "a.png"]), out, options, jobs=1, command="declump segment")
    declump.report.write_report(out)
    for path in (out, out / "run.json"):
        answer = told(path)
        assert "a run of 'declump segment'" in answer and "1, 1 done" in answer and "evidence clump" in answer
    assert "summary of one image" in told(out / "a" / "summary.json") and "a.png" in told(out / "a" / "summary.json")
    for table, row in (("images.csv", "image"), ("a/clumps.csv", "clump"), ("a/cells.csv", "cell")):
        assert f"a row for each {row}" in told(out / table)
    assert "page of 'declump report'" in told(next(tmp_path.rglob("*.html")))


def test_a_table_of_others(tmp_path: Path) -> None:
    (tmp_path / "others.csv").write_text("id,kind,row_px,column_px\n1,leukocyte,2,3\n")
    assert "a row for each spot that is no nucleus" in told(tmp_path / "others.csv")


def test_states_of_trainings(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model-training.zip", "w") as archive:
        archive.writestr("training.json", '{"step": 250, "curve": []}')
    assert "250" in told(tmp_path / "model-training.zip")


def test_other_files(tmp_path: Path) -> None:
    for name in (
        "a.txt",
        "a.tif",
        "a.png",
        "a.json",
        "a.zip",
        "a.parquet",
        "a.npz",
        "a.onnx",
        "a.csv",
        "a.gz",
    ):
        for content in (
            b"",
            b"hello",
            b"II*\0",
            b"\x89PNG\r\n\x1a\n",
            b"{}",
            b"[]",
            b"PK",
            b"PAR1",
            b"\x1f\x8b",
        ):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
                list(facts(tmp_path / name))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.comment = b"{}"
    np.savez(tmp_path / "b.npz", masks=np.zeros(3))
    (tmp_path / "empty").mkdir()
    for name in ("a.zip", "b.npz", "empty"):
        with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
            list(facts(tmp_path / name))
    with pytest.raises(FileNotFoundError, match="there is no file"):
        facts(tmp_path / "missing")
