"""Real frames give the cells they gave: only digests and rounded samples of them are stored.

``PYTHONPATH=tests python tests/golden/test_real.py`` stores them anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import declump
from support.golden_outputs import check_outputs, describe, rounds_alike, store

STORE = Path(__file__).with_name("real.json")
FRAMES = {
    "grey": "isbi2015/frame004/image.png",
    "Cervix93": "cervix93/frame000.png",
    "colour": "cric/8f99ed3b.jpg",
}


def frames(folder: Path) -> Iterator[tuple[str, Any]]:
    for name, path in FRAMES.items():
        image = np.asarray(declump.io.read_image(folder / path))[:512, :640]
        found = declump.segment(image)
        yield name, [declump.find_statistics(image), found, declump.measure(found, image).cells]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_real_frames_give_what_was_stored(data_folder: Path) -> None:
    stored = json.loads(STORE.read_text(encoding="utf-8"))
    check_outputs(describe(lambda: frames(data_folder)), stored, alike=rounds_alike())


if __name__ == "__main__":
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    store(STORE, describe(lambda: frames(Path(os.environ.get("DECLUMP_DATA", beside)))))
