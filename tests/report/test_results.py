"""The report of what ``declump segment`` really writes: subfolders, pages, a pixel size of the file, a failure."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

from declump import simulate
from declump.report import read_run, write_report
from support.waiting import LIMIT


def test_subfolders_pages_and_pixel_sizes_of_a_run(tmp_path: Path) -> None:
    slides, out = tmp_path / "slides", tmp_path / "out"
    (slides / "deep").mkdir(parents=True)
    smear = simulate.smear((150, 160), cells=2, overlap=0.3, stain="grey", debris=0, rng=3)
    Image.fromarray(smear.image).save(slides / "deep" / "one.png")
    tifffile.imwrite(slides / "two.tif", np.stack([smear.image, smear.image[::-1]]), photometric="minisblack")
    (slides / "broken.png").write_bytes(b"no picture")
    command = [sys.executable, "-m", "declump.cli", "segment", str(slides), "-o", str(out), "--jobs", "1"]
    options = ["--evidence", "clump", "--pixel-size", "0.3"]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=LIMIT, check=False)
    assert ended.returncode == 1 and "broken" in ended.stderr + ended.stdout
    run = read_run(out)
    assert {image.name for image in run.images} == {"broken", "deep/one", "two-page0001", "two-page0002"}
    assert {image.page for image in run.images if image.name.startswith("two")} == {1, 2}

    page = write_report(out).read_text(encoding="utf-8")
    assert "are not in the folder any more" not in page and "is no image that declump reads" in page
    assert page.count("data:image/jpeg") == 3, "the originals are found, also pages of a file"
    cells = json.loads(re.search(r'id="cells-data">(.*?)</script>', page, re.S)[1])
    assert "area_um2" in json.dumps(cells)
