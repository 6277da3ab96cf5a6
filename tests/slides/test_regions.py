"""Tiles are handed out in batches, each tile once."""

from __future__ import annotations

import pytest

from declump.slides.regions import do_tiles, make_tasks


@pytest.mark.parametrize("together", [1, 3, 16])
def test_every_tile_is_done_once_in_its_order(together: int) -> None:
    seen: list[tuple[str, int]] = []
    tasks = make_tasks(lambda out, tile: seen.append((out, tile)), "out", [5, 2, 9, 4], together)
    assert sum(do_tiles(*task) for task in tasks) == 4
    assert seen == [("out", 5), ("out", 2), ("out", 9), ("out", 4)]
    assert len(tasks) == -(-4 // together)
