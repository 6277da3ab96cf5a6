from __future__ import annotations

import numpy as np
import pytest

from declump.pictures import FoundCell, worst_cells
from declump.pictures.worst import _BOTH, _MISSED, _TOO_MUCH, SIDE


def test_the_worst_come_first_and_colours_tell_what_is_wrong() -> None:
    truth, found = np.zeros((2, 30, 40), bool)
    truth[5:15, 5:25], found[5:15, 15:35] = True, True
    cells = [
        FoundCell.from_masks("good", 1.0, truth, truth),
        FoundCell.from_masks("half", 0.5, truth, found),
        FoundCell.from_masks("missed", 0.0, truth, None),
    ]
    picture = worst_cells(cells, most=2, columns=2)
    missed, half = picture[:, :SIDE], picture[:, -SIDE:]
    assert (missed == _MISSED).all(axis=2).any() and not (missed == _BOTH).all(axis=2).any()
    assert all((half == colour).all(axis=2).sum() > 1000 for colour in (_MISSED, _TOO_MUCH, _BOTH))
    with pytest.raises(ValueError, match="no true cell"):
        worst_cells([])
