import numpy as np
import pytest

from declump.pictures import COLOURS, category_colours
from declump.records.segmentation import Segmentation
from declump_paper import pictures


def cells(radius: float = 20.0, seeds: tuple[tuple[float, float], ...] = ((40.0, 40.0), (40.0, 150.0))) -> Segmentation:
    places = np.array(seeds).reshape(-1, 2)
    return Segmentation((100, 200), places, np.full((len(places), 90), radius), np.zeros(len(places), np.int64))


def image() -> np.ndarray:
    ground = np.full((100, 200), 60, np.uint8)
    ground[:, 100:] = 180
    return ground


def columns_of(colour: tuple[int, int, int], panel: np.ndarray) -> np.ndarray:
    return np.flatnonzero((panel == np.array(colour)).all(axis=2).any(axis=0))


def test_one_row_an_example_and_one_column_a_method() -> None:
    sheet = pictures.comparison_picture([(image(), [cells(), cells(30)]), (image(), [cells(), None])], ["a", "b"])
    assert sheet.dtype == np.uint8 and sheet.shape[1] == 2 * 320 + 8
    # Titles once, then two rows of panels with the shape of the image, and the gap between them.
    assert sheet.shape[0] == 18 + 2 * 160 + 8
    failed = sheet[18 + 160 + 8 :, 328:]
    assert set(np.unique(failed[:, :140])) == {60} and set(np.unique(failed[:, 180:])) == {180}


def test_outlines_are_magnified_with_the_window() -> None:
    whole = pictures.comparison_picture([(image(), [cells()])], ["a"])
    close = pictures.comparison_picture([(image(), [cells()])], ["a"], windows=[(0, 0, 80, 80)])
    assert close.shape[:2] == (18 + 320, 320)
    orange = COLOURS[category_colours(cells())[0]]
    assert np.ptp(columns_of(orange, whole[18:])) == pytest.approx(40 * 320 / 200, abs=4)
    assert np.ptp(columns_of(orange, close[18:])) == pytest.approx(40 * 320 / 80, abs=4)


def test_columns_stay_in_line_whatever_the_shapes_of_the_rows() -> None:
    sheet = pictures.comparison_picture(
        [(image(), [cells(), None]), (image(), [cells(), None])], ["a", "b"], windows=[None, (0, 0, 100, 50)]
    )
    assert sheet.shape[:2] == (18 + 160 + 8 + 320, 2 * 320 + 8)
    assert (sheet[-320:, 328 + 80 : 328 + 240] == 60).all() and (sheet[-320:, 328 : 328 + 80] == 255).all()


def test_a_cell_keeps_its_colour_whatever_its_number() -> None:
    near = ((40.0, 40.0), (40.0, 88.0))
    sheet = pictures.comparison_picture([(image(), [cells(seeds=near), cells(seeds=near[::-1])])], ["a", "b"])
    left, right = sheet[:, :320], sheet[:, 328:]
    assert (left == right)[18:].all()


def test_captions_stand_beneath_and_long_titles_are_wrapped() -> None:
    plain = pictures.comparison_picture([(image(), [cells()])], ["a"])
    told = pictures.comparison_picture([(image(), [cells()])], ["a"], captions=[["Dice 0.9"]])
    assert told.shape[0] == plain.shape[0] + 18 and (told[-18:] < 128).any()
    long = pictures.comparison_picture([(image(), [cells()])], ["a reading of a method " * 4])
    assert long.shape[0] > plain.shape[0]


def test_with_fewer_columns_an_example_takes_several_rows_with_titles_of_their_own() -> None:
    sheet = pictures.comparison_picture([(image(), [cells(), cells(30), cells(9)])], ["a", "b", "c"], columns=2)
    assert sheet.shape[:2] == (2 * (18 + 160) + 8, 2 * 320 + 8)
    assert (sheet[18 + 160 + 8 :][:18, :20] < 128).any()
    assert (sheet[18 + 160 + 8 :, 328:] == 255).all()


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="has examples and titles"):
        pictures.comparison_picture([], [])
    with pytest.raises(ValueError, match="2 titles, but an example has 1 segmentations"):
        pictures.comparison_picture([(image(), [cells()])], ["a", "b"])
    with pytest.raises(ValueError, match="1 examples and 2 windows"):
        pictures.comparison_picture([(image(), [cells()])], ["a"], windows=[None, None])
    with pytest.raises(ValueError, match="within its image of 100 x 200"):
        pictures.comparison_picture([(image(), [cells()])], ["a"], windows=[(0, 0, 101, 50)])
    with pytest.raises(ValueError, match="give the image that was segmented"):
        pictures.comparison_picture([(image()[:50], [cells()])], ["a"])
    with pytest.raises(ValueError, match="at least 16"):
        pictures.comparison_picture([(image(), [cells()])], ["a"], side=3)
    with pytest.raises(ValueError, match="a row a column"):
        pictures.comparison_picture([(image(), [cells()])], ["a"], columns=0)
