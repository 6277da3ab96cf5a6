"""What is open: images are shown before they are segmented, and few are kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

pytest.importorskip("starlette", reason="the page needs the extra review: pip install 'declump[review]'")

from declump.review.album import open_album
from declump.review.albums import find_album
from declump.review.server import hub as hubs
from declump.review.server.hub import Hub


def test_an_image_that_waits_has_tiles_and_few_are_kept(tmp_path: Path) -> None:
    (tmp_path / "smears").mkdir()
    for number in range(hubs.OPEN + 2):
        iio.imwrite(tmp_path / "smears" / f"{number}.png", np.full((20 + number, 30), 200, np.uint8))
    hub = Hub(open_album(tmp_path / "smears"))

    async def look() -> None:
        for number, entry in enumerate(hub.album.entries.values()):
            pyramid = await hub.picture(entry)
            assert entry.status == "waiting" and pyramid.describe()["shape"] == [20 + number, 30]
            assert pyramid.tile(pyramid.deepest, 0, 0) is not None
            assert await hub.picture(entry) is pyramid

    asyncio.run(look())
    assert len(hub._pictures) == hubs.OPEN


def test_a_slide_is_listed_with_its_thumbnail_and_its_cells(segmented_slide: Path) -> None:
    hub = Hub(find_album(segmented_slide))
    (entry,) = hub.album.entries.values()
    told = hub.describe_entry(entry)
    assert (told["kind"], told["status"], told["cells"]) == ("slide", "ready", 14)
    assert asyncio.run(hub.thumbnail(entry)).startswith(b"\xff\xd8")
