"""What is opened as a slide, and where its results lie."""

from __future__ import annotations

import threading
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile

from declump.review.album import Album
from declump.review.albums import find_album
from declump.review.slides import album as slides
from declump.review.slides.album import SlideAlbum, is_slide

GREY = np.full((300, 400), 230, np.uint8)


def write_pyramid(path: Path, image: np.ndarray) -> None:
    with tifffile.TiffWriter(path) as file:
        file.write(image, subifds=1, tile=(128, 128))
        file.write(image[::2, ::2], subfiletype=1, tile=(128, 128))


def test_pyramids_large_images_and_results_are_slides(
    segmented_slide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    iio.imwrite(tmp_path / "plain.png", GREY)
    iio.imwrite(tmp_path / "flat.tif", GREY)
    write_pyramid(tmp_path / "levels.tif", GREY)
    assert is_slide(segmented_slide) and is_slide(tmp_path / "levels.tif")
    assert not any(is_slide(path) for path in (tmp_path, tmp_path / "plain.png", tmp_path / "flat.tif"))
    assert not is_slide(tmp_path / "missing.svs")
    monkeypatch.setattr(slides, "LARGE", GREY.size)
    assert is_slide(tmp_path / "plain.png")


def test_results_are_reviewed_where_they_are(segmented_slide: Path, tmp_path: Path) -> None:
    album = find_album(segmented_slide)
    assert isinstance(album, SlideAlbum) and album.slide.status == "ready" and album.out == segmented_slide
    record = album.slide.record
    assert record is not None and record["image"]["cells"] == 14
    with pytest.raises(ValueError, match="reviewed where they are"):
        find_album(segmented_slide, tmp_path / "elsewhere")


def test_a_slide_without_results_waits_and_what_is_none_is_said(tmp_path: Path) -> None:
    write_pyramid(tmp_path / "smear.ome.tif", GREY)
    album = find_album(tmp_path / "smear.ome.tif")
    assert isinstance(album, SlideAlbum) and album.slide.status == "waiting"
    assert album.out == tmp_path / "smear-declump" and not album.out.exists()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else"):
        find_album(tmp_path / "smear.ome.tif", tmp_path / "taken")
    (tmp_path / "notes.svs").write_text("no slide")
    with pytest.raises(ValueError, match=r"notes\.svs"):
        find_album(tmp_path / "notes.svs")
    (tmp_path / "images").mkdir()
    iio.imwrite(tmp_path / "images" / "plain.png", GREY)
    assert type(find_album(tmp_path / "images")) is Album


def test_a_slide_whose_file_is_gone_says_so(slide_results: Path) -> None:
    record = slide_results / "record.json"
    record.write_text(record.read_text().replace("slide.png", "moved.png"))
    with pytest.raises(FileNotFoundError, match=r"moved\.png"):
        find_album(slide_results)


def test_a_slide_is_segmented_in_the_background(tmp_path: Path) -> None:
    write_pyramid(tmp_path / "glass.ome.tif", GREY)
    (tmp_path / "glass-declump").mkdir()
    (tmp_path / "glass-declump" / ".lock-of-declump").touch()  # as a run that was killed leaves it
    album = find_album(tmp_path / "glass.ome.tif")
    assert isinstance(album, SlideAlbum)
    told: list[tuple[str, str]] = []
    with album.hold():
        album.prepare(lambda entry: told.append((entry.status, entry.doing)), threading.Event())
        assert album.slide.status == "ready", album.slide.reason
        assert told[0][0] == "working" and told[-1][0] == "ready"
        assert album.slide.record == {"image": {"cells": 0, "mean_confidence": None}, "review": {}}
