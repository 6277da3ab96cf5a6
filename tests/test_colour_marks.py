"""The nuclei of colour frames that were marked by eye (benchmarks/colour_marks.py)."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import imageio.v3 as imageio
import numpy as np
import pytest

from declump.datasets import read_marked

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SHAPE = (1216, 1936)


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import colour_marks

    return colour_marks


def test_every_mark_lies_in_its_frame_and_no_nucleus_is_marked_twice(marks: ModuleType) -> None:
    with marks.MARKS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    frames = {row["frame"] for row in rows}
    assert len(frames) == 15 and {row["kind"] for row in rows} == {"nucleus", "unclear"}
    for frame in frames:
        own = [row for row in rows if row["frame"] == frame]
        places = np.array([[float(row["row"]), float(row["column"])] for row in own])
        assert (places >= 0).all() and (places < SHAPE).all()
        nuclei = places[[row["kind"] == "nucleus" for row in own]]
        apart = np.hypot(*(nuclei[:, None] - nuclei[None]).transpose(2, 0, 1)) + 1e9 * np.eye(len(nuclei))
        assert apart.min() > 5


def test_marks_are_written_as_a_training_reads_them(marks: ModuleType, tmp_path: Path) -> None:
    frames, out = tmp_path / "frames", tmp_path / "colour"
    frames.mkdir()
    imageio.imwrite(frames / "IMG009x016.jpg", np.full((*SHAPE, 3), 220, np.uint8))
    (frame,) = marks.read(frames)
    command = [sys.executable, BENCHMARKS / "colour_marks.py", "--data", frames, "--out", out]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (read,) = read_marked(out)
    assert told == f"IMG009x016: {len(frame.points)} nuclei\n"
    assert read.name == frame.name == "colour/IMG009x016"
    assert np.array_equal(read.points, frame.points) and len(read.points) > 30
    assert read.unknown is not None and np.array_equal(read.unknown, frame.unknown) and read.unknown.any()
