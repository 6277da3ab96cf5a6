"""Images that nobody annotated."""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest

from declump.datasets import unmarked


def test_images_come_by_name_and_other_files_are_passed_over(tmp_path: Path) -> None:
    for name, value in (("b.png", 2), ("a.jpg", 1), ("c.PNG", 3)):
        imageio.imwrite(tmp_path / name, np.full((8, 9), 10 * value, np.uint8), extension=Path(name).suffix.lower())
    (tmp_path / "notes.txt").write_text("no image")
    assert [int(image.mean()) for image in unmarked.read(tmp_path)] == [10, 20, 30]


def test_a_folder_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no image"):
        unmarked.read(tmp_path)
