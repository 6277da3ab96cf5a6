from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.run_lengths import compress, decompress


@given(st.lists(st.integers(0, 2**40), max_size=30))
def test_texts_come_back(lengths: list[int]) -> None:
    assert decompress(compress(lengths)) == lengths


def test_a_number_without_end_is_refused_at_once() -> None:
    """Each character would have to be added to a number of millions of bits."""
    with pytest.raises(ValueError, match="longer than any image"):
        decompress("o" * 2_000_000)
