from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from declump._kernels.outlines import entries_within, entries_within_near

DISTANCES = st.lists(st.floats(0, 50), min_size=1, max_size=60).map(sorted)


@given(DISTANCES, st.floats(-1, 51), st.data())
def test_entries_are_found_from_any_guess(distances: list[float], limit: float, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(distances)))
    end = data.draw(st.integers(first, len(distances)))
    guess = data.draw(st.integers(first, end))
    table = np.array(distances)
    expected = first + int(np.searchsorted(table[first:end], limit, side="right"))
    assert entries_within(table, first, end, limit) == expected
    assert entries_within_near(table, first, end, limit, guess) == expected
