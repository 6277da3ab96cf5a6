import numpy as np
import pytest

from declump import pictures
from declump.records.segmentation import Segmentation


def cells() -> Segmentation:
    """Three apart, of different sizes; the first reaches out of the image."""
    radii = np.repeat([[30.0], [20.0], [10.0]], 90, axis=1)
    return Segmentation((100, 200), np.array([[20.0, 20.0], [50, 110], [60, 170]]), radii, np.zeros(3, np.int64))


def image() -> np.ndarray:
    """Every cell on a ground of its own brightness."""
    ground = np.full((100, 200), 60, np.uint8)
    ground[:, 70:145], ground[:, 145:] = 120, 180
    return ground


def grounds(sheet: np.ndarray, count: int) -> list[int]:
    """Brightness a little off the seed in the middle of each cell's picture."""
    return [int(sheet[80 + 12, place * (160 + 8) + 80 + 3, 0]) for place in range(count)]


def test_cells_stand_in_the_order_of_their_values_with_the_unknown_last() -> None:
    sheet = pictures.cell_grid(cells(), image())
    assert sheet.shape[1] == 3 * 160 + 2 * 8 and sheet.shape[0] > 160
    assert grounds(sheet, 3) == [60, 120, 180]
    ranked = pictures.cell_grid(cells(), image(), values=[0.9, np.nan, 0.1], title="confidence")
    assert grounds(ranked, 3) == [180, 60, 120]
    assert pictures.cell_grid(cells(), image(), most=2).shape[1] == 2 * 160 + 8
    assert pictures.cell_grid(cells(), image(), columns=1).shape[1] == 160


def test_all_are_at_the_same_magnification_and_white_outside_the_image() -> None:
    sheet = pictures.cell_grid(cells(), image())
    colour = np.array(pictures.COLOURS[0])
    widths = []
    for place in range(3):
        part = sheet[:160, place * 168 : place * 168 + 160]
        drawn = np.flatnonzero((part == colour).all(axis=2).any(axis=0))
        widths.append(np.ptp(drawn))
    assert np.allclose(np.array(widths) / widths[0], [1, 2 / 3, 1 / 3], atol=0.04)
    assert (sheet[1, 1] == 255).all()


def test_a_long_measurement_takes_a_line_of_its_own_and_a_cell_without_an_outline_is_a_dot() -> None:
    short = pictures.cell_grid(cells(), values=[1, 2, 3], title="area")
    long = pictures.cell_grid(cells(), values=[1, 2, 3], title="nucleus to cytoplasm area ratio")
    assert long.shape[0] > short.shape[0]
    empty = Segmentation((30, 30), np.array([[15.0, 15.0]]), np.zeros((1, 90)), np.array([-1]))
    assert (pictures.cell_grid(empty)[:160] != 255).any()


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="no cell to show"):
        pictures.cell_grid(Segmentation((9, 9), np.zeros((0, 2)), np.zeros((0, 90)), np.zeros(0, np.int64)))
    with pytest.raises(ValueError, match="side >= 16"):
        pictures.cell_grid(cells(), side=3)
    with pytest.raises(ValueError, match="one value a cell"):
        pictures.cell_grid(cells(), values=[1])
