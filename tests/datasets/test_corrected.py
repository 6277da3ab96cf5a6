"""Corrected clumps of a slide are written into one file, and read back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import declump
from declump.datasets import AnnotatedImage, corrected
from support.annotated_smears import annotated


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "record.json").write_text(json.dumps({"format": "declump slide"}))
    return tmp_path


def test_what_is_written_is_read_back(results: Path) -> None:
    one = annotated(0)
    unknown = np.zeros(one.image.shape[:2], np.bool_)
    unknown[:5] = True
    two = AnnotatedImage("two", one.image, one.cells, one.nucleus_labels, one.seeds, unknown)
    corrected.write([one, two], results / corrected.FILE)
    first, second = declump.datasets.read(results)
    assert (first.name, second.name) == (one.name, "two")
    for name in ("image", "cells", "nucleus_labels", "seeds"):
        np.testing.assert_array_equal(getattr(first, name), getattr(one, name))
    assert first.unknown is not None and not first.unknown.any()
    np.testing.assert_array_equal(second.unknown, unknown)


def test_a_slide_that_nobody_corrected_is_refused(results: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No clump of the slide"):
        declump.datasets.read(results)
    corrected.write([], results / corrected.FILE)
    with pytest.raises(FileNotFoundError, match="No clump of the slide"):
        declump.datasets.read(results)
    (results / corrected.FILE).write_bytes(b"PK damaged")
    with pytest.raises(ValueError, match="cannot be read"):
        declump.datasets.read(results)


def test_what_is_unknown_has_the_size_of_the_image() -> None:
    one = annotated(0)
    with pytest.raises(ValueError, match="what is unknown"):
        AnnotatedImage("one", one.image, one.cells, one.nucleus_labels, one.seeds, np.zeros((2, 2), np.bool_))
