"""What a page is told of an image, and in which order."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import pytest

pytest.importorskip("starlette", reason="the page needs the extra review: pip install 'declump[review]'")

from declump.review.album import open_album
from declump.review.images import ReviewedImage
from declump.review.server import image_desk
from support.annotated_smears import annotated
from support.waiting import wait_until


def test_new_outlines_do_not_take_back_a_label_that_was_given_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "smears").mkdir()
    iio.imwrite(tmp_path / "smears" / "a.png", annotated(0).image)
    album = open_album(tmp_path / "smears")
    album.prepare(lambda _: None, threading.Event())
    (entry,) = album.entries.values()
    told: list[dict[str, Any]] = []
    desk = image_desk.ImageDesk(entry, ReviewedImage(entry.source, album.options, entry.folder), told.append)
    try:
        gone, *others = desk.snapshot.numbers
        describe = image_desk.describe_cells

        def describe_slowly(*given: Any) -> list[dict[str, Any]]:
            described = describe(*given)
            for cell in others:  # once the outlines are known, and before they are told
                desk.edit({"edit": "label cell", "cell": cell, "label": "meanwhile"}, f"label {cell}")
            return described

        monkeypatch.setattr(image_desk, "describe_cells", describe_slowly)
        desk.edit({"edit": "delete cell", "cell": gone}, "delete")
        result = wait_until(lambda: next((one for one in told if one["type"] == "result"), None), "new outlines")
    finally:
        desk.close()
    kinds = [one["type"] for one in told if one["type"] in ("edited", "result")]
    assert kinds == ["edited"] * (1 + len(others)) + ["result"]
    assert result is not None and {cell["label"] for cell in result["cells"]} == {"meanwhile"}
