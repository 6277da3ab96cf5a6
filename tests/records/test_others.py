from __future__ import annotations

import numpy as np
import pytest

from declump.records.others import Others


def test_they_are_counted_and_become_a_table() -> None:
    others = Others(
        np.array([[1.0, 2.0], [3.0, 4.5]]), np.array([30.0, 9.0]), np.array([0.1, 0.3]), ("leukocyte", "other")
    )
    assert (len(others), others.leukocytes) == (2, 1)
    assert others.to_columns() == {
        "id": [1, 2],
        "kind": ["leukocyte", "other"],
        "row_px": [1.0, 3.0],
        "column_px": [2.0, 4.5],
        "area_px2": [30.0, 9.0],
        "nucleus_probability": [0.1, 0.3],
    }


def test_what_does_not_belong_together_is_refused() -> None:
    one = np.ones(1)
    with pytest.raises(ValueError, match="places"):
        Others(np.ones((2, 2)), one, one, ("other",))
    with pytest.raises(ValueError, match="kinds"):
        Others(np.ones((1, 2)), one, one, ("yeast",))
