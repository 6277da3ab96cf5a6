import base64
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from declump.cli.app import app
from declump.report import results as gathering
from declump.report import write_report
from support.report_samples import SHAPE, smear, write_results, write_run

HOSTILE = ["<img src=x onerror=window.hacked=1>", "quote\"'&amp;", "$title ${style}", "line\u2028end"]


def block(page: str, name: str) -> Any:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page)
    assert found
    return json.loads(found[1])


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


class Elements(HTMLParser):
    """Names and attributes of all elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_holds_everything_and_asks_for_nothing(results: Path) -> None:
    page = text(write_report(results))
    assert page.count("<details class=") == 2 and page.count("<figure") == 4
    assert "2 images, 6 cells" in page and "declump segment originals -o results" in page
    outside = [
        (tag, name, value)
        for tag, attributes in Elements(page).found
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "action", "style", "data") or name.startswith("on")
    ]
    assert outside == []
    assert "default-src 'none'" in page


def test_cells_are_given_as_they_were_found(results: Path) -> None:
    page = text(write_report(results))
    cells, image = block(page, "cells-data"), block(page, "image-1")
    names = [column["name"] for column in cells["columns"]]
    assert [entry["name"] for entry in cells["images"]] == ["one", "two"]
    areas = cells["images"][0]["values"][names.index("area_px2") - 1]
    assert np.allclose(areas, smear().areas, rtol=1e-5)
    assert (image["height"], image["width"], image["burnt"]) == (*SHAPE, False)
    first = image["cells"][0]
    assert first["seed"] == [40.5, 60.5] and first["radii"] == [200] * 90
    assert {hidden for _, _, hidden in first["runs"]} == {True, False}
    assert len(first["nucleus"]) == 1


def test_the_page_shows_confident_cells_first_if_asked_and_holds_all(results: Path) -> None:
    every = block(text(write_report(results)), "cells-data")
    ended = CliRunner().invoke(app, ["report", str(results), "--min-confidence", "0.5"])
    assert ended.exit_code == 0, ended.output
    chosen = block(text(results / "report.html"), "cells-data")
    assert every["filter"] is None and chosen["filter"] == {"name": "confidence", "least": 0.5}
    assert chosen["images"] == every["images"]


def test_the_same_results_give_the_same_bytes(results: Path, tmp_path: Path) -> None:
    first = write_report(results).read_bytes()
    assert write_report(results).read_bytes() == first
    moved = shutil.copytree(results, tmp_path / "elsewhere" / "results")
    assert write_report(moved).read_bytes() == first
    assert [path.name for path in results.glob(".*")] == []


def test_without_the_original_the_overlay_is_shown_and_said(tmp_path: Path) -> None:
    write_results(tmp_path / "results", ["one"], smear(), originals=None)
    page = text(write_report(tmp_path / "results"))
    assert block(page, "image-0")["burnt"] and "No run.json tells where the original is; shown is overlay.png" in page
    write_run(tmp_path / "results", [{"path": "/nowhere/one.png", "name": "one", "status": "done"}])
    assert "The original /nowhere/one.png is gone" in text(write_report(tmp_path / "results"))
    (tmp_path / "results" / "one" / "overlay.png").unlink()
    image = block(text(write_report(tmp_path / "results")), "image-0")
    assert image["picture"] == "" and not image["burnt"]


def test_originals_can_be_given(tmp_path: Path) -> None:
    write_results(tmp_path / "results", ["one"], smear(), originals=None)
    (tmp_path / "photos").mkdir()
    iio.imwrite(tmp_path / "photos" / "one.tif", np.full(SHAPE, 99, np.uint8))
    page = text(write_report(tmp_path / "results", images=tmp_path / "photos"))
    assert not block(page, "image-0")["burnt"]
    iio.imwrite(tmp_path / "photos" / "one.tif", np.full((9, 9), 99, np.uint8))
    assert "has another size by now" in text(write_report(tmp_path / "results", images=tmp_path / "photos"))
    (tmp_path / "photos" / "one.tif").write_bytes(b"no image")
    assert "The original cannot be read" in text(write_report(tmp_path / "results", images=tmp_path / "photos"))
    with pytest.raises(FileNotFoundError, match="original images"):
        write_report(tmp_path / "results", images=tmp_path / "nowhere")


def test_a_large_picture_is_made_smaller_and_the_outlines_are_not(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(gathering, "MAX_SIDE", 100)
    write_results(tmp_path / "results", ["one"], smear(), originals=tmp_path / "originals")
    image = block(text(write_report(tmp_path / "results")), "image-0")
    data = base64.b64decode(image["picture"].removeprefix("data:image/jpeg;base64,"))
    assert Image.open(io.BytesIO(data)).size == (100, 60) and image["width"] == 200


def test_the_folder_of_one_image(results: Path) -> None:
    page = text(write_report(results / "two"))
    assert (results / "two" / "report.html").is_file()
    assert "1 image, 3 cells<" in page and "failed" not in block(page, "cells-data")
    assert not block(page, "image-0")["burnt"]


def test_failures_of_the_run_and_of_the_folder(results: Path) -> None:
    (results / "two" / "contours.json").write_text("broken")
    write_run(
        results,
        [
            {"path": "dark.png", "name": "dark", "status": "failed", "reason": "</script><b>too dark</b>"},
            {"path": "lost.png", "name": "lost", "status": "done", "cells": 2},
        ],
    )
    page = text(write_report(results))
    assert "1 image, 3 cells, 3 failed" in page
    for reason in ("&lt;/script&gt;&lt;b&gt;too dark", "is no contours file", "not in the folder any more"):
        assert reason in page


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    write_results(tmp_path / "results", HOSTILE, smear(1), originals=None)
    write_run(tmp_path / "results", [], settings={"</td><script>": "</script><script>window.hacked=1</script>"})
    page = text(write_report(tmp_path / "results"))
    assert sorted(entry["name"] for entry in block(page, "cells-data")["images"]) == sorted(HOSTILE)
    tags = [tag for tag, _ in Elements(page).found]
    assert "img" not in tags and tags.count("script") == 2 + len(HOSTILE)


@pytest.mark.parametrize("nuclei", [True, False])
def test_no_cell_and_no_nuclei(tmp_path: Path, nuclei: bool) -> None:
    write_results(tmp_path / "none", ["one"], smear(0, nuclei=nuclei), originals=None)
    page = text(write_report(tmp_path / "none"))
    assert "0 cells, 0 clumps" in page and page.count("<p>no value</p>") == 4
    write_results(tmp_path / "some", ["one"], smear(2, nuclei=nuclei), originals=None)
    page = text(write_report(tmp_path / "some"))
    assert ("no value, 2 not known" in page) is not nuclei


def test_micrometres_come_in_place_of_pixels(results: Path) -> None:
    record = {"path": str(results.parent / "originals" / "one.png"), "name": "one", "status": "done"}
    write_run(results, [record], settings={"pixel_size": 0.5})
    page = text(write_report(results))
    shown = [column["label"] for column in block(page, "cells-data")["columns"] if column["shown"]]
    assert "area (µm²)" in shown and "area (px²)" not in shown and "area (µm²): median" in page


def test_folders_without_results(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_report(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="holds no results"):
        write_report(tmp_path)
    write_run(tmp_path, [{"path": "a.png", "name": "a", "status": "failed", "reason": "no image"}])
    assert "0 images, 0 cells, 1 failed" in text(write_report(tmp_path))


def test_command_line(results: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(results)])
    assert result.exit_code == 0 and result.output.split() == ["report", str(results / "report.html")]
