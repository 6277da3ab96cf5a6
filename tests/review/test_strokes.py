from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump.review.strokes import paint_stroke

SHAPE = (24, 30)
PLACES = st.tuples(st.floats(-5, 28), st.floats(-5, 34))


def distance_to_line(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distance of every pixel from many points along a line, the nearest of them; too large by less than 0.01."""
    shares = np.linspace(0, 1, 400)[:, None, None]
    rows, columns = np.indices(SHAPE)
    along = start[:, None, None, None] + (end - start)[:, None, None, None] * shares
    return np.hypot(rows - along[0], columns - along[1]).min(axis=0)


@settings(max_examples=60, deadline=None)
@given(st.lists(PLACES, min_size=1, max_size=4), st.floats(0.6, 9))
def test_pixels_near_the_line_are_painted(points: list[tuple[float, float]], radius: float) -> None:
    places = np.array(points)
    ends = places[1:] if len(places) > 1 else places
    distance = np.min([distance_to_line(start, end) for start, end in zip(places, ends, strict=False)], axis=0)
    whole = np.zeros(SHAPE, bool)
    try:
        painted, box = paint_stroke(points, radius, SHAPE)
    except ValueError:
        assert not (distance <= radius).any()
        return
    whole[box] = painted
    assert whole[distance <= radius - 0.1].all() and not whole[distance > radius + 0.01].any()


def test_a_stroke_beside_the_image_is_refused() -> None:
    with pytest.raises(ValueError, match="outside the image"):
        paint_stroke([(-20, -20)], 3, SHAPE)
