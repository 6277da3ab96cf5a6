from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from declump import pictures
from declump.drawing import pen
from declump.pictures.legend import readable
from declump.records.segmentation import Segmentation


def circles(seeds: list[tuple[float, float]], radius: float = 20, shape: tuple[int, int] = (100, 240)) -> Segmentation:
    count = len(seeds)
    return Segmentation(
        shape, np.array(seeds, float).reshape(-1, 2), np.full((count, 90), float(radius)), np.zeros(count, np.int64)
    )


def lightness(colours: NDArray[np.integer]) -> NDArray[np.float64]:
    """CIE L* of sRGB colours (N, 3)."""
    linear = np.where(colours / 255 <= 0.04045, colours / 255 / 12.92, ((colours / 255 + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(luminance) - 16


def test_values_grow_lighter_by_equal_steps_so_that_no_colour_vision_is_needed() -> None:
    steps = np.diff(lightness(pictures.Scale(0, 1).colours(np.linspace(0, 1, 101))))
    assert np.all(steps > 0) and steps.max() < 3 * steps.min()


def test_categories_differ_for_people_who_do_not_see_green() -> None:
    """Colours as a deuteranope sees them (Machado, Oliveira and Fernandes 2009) stay apart."""
    deuteranopia = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
    linear = (np.array(pictures.COLOURS) / 255) ** 2.2
    seen = np.clip(linear @ deuteranopia.T, 0, 1) ** (1 / 2.2) * 255
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)
    assert apart[~np.eye(len(seen), dtype=bool)].min() > 30


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=9))
def test_any_values_have_a_colour(values: list[float]) -> None:
    colours = pictures.Scale.of(values).colours(values)
    assert colours.shape == (len(values), 3)
    unknown = ~np.isfinite(values)
    assert (colours[unknown] == pictures.UNKNOWN).all()


def test_cells_have_the_colours_of_their_values_and_a_legend_stands_beneath() -> None:
    cells = circles([(50, 40), (50, 120), (50, 200)], shape=(100, 320))
    picture = pictures.overlay(cells, values=[1, np.nan, 3], title="area")
    assert picture.shape[0] > 100 and picture.shape[1:] == (320, 3)
    assert picture[50, 40].tolist() == list(pictures.RAMP[0])
    assert picture[50, 120].tolist() == list(pictures.UNKNOWN)
    assert picture[50, 200].tolist() == list(pictures.RAMP[-1])
    legend = picture[100:].reshape(-1, 3).tolist()
    assert all(list(colour) in legend for colour in (pictures.RAMP[0], pictures.RAMP[-1], pictures.UNKNOWN))
    without = pictures.overlay(cells, values=[1, 2, 3], title="area")
    grey = [(shown[100:] == pictures.UNKNOWN).all(axis=2).sum() for shown in (picture, without)]
    assert grey[0] >= pen.SMALLEST_TEXT**2 > grey[1]


def test_legend_of_a_small_picture_of_no_known_value_and_of_no_cell() -> None:
    small = circles([(10, 10)], radius=5, shape=(20, 20))
    assert pictures.overlay(small, values=[np.nan], title="a long name of a measurement").shape[1] > 20
    assert pictures.overlay(small, values=[2.0]).shape[0] < pictures.overlay(small, values=[2.0], title="t").shape[0]
    assert pictures.overlay(circles([]), values=[]).shape[0] > 100


def test_numbers_are_readable_and_stand_beside_the_seeds() -> None:
    cells = circles([(50, 60), (50, 160)], radius=40)
    plain, numbered = pictures.overlay(cells), pictures.overlay(cells, numbers=True)
    rows, columns = np.nonzero((plain != numbered).any(axis=2))
    assert np.ptp(rows) >= 8 and abs(rows.mean() - 50) < 4
    beside = np.minimum(abs(columns - 60), abs(columns - 160))
    assert beside.min() > pen.DOT and beside.max() < 25
    assert pen.text_size((3000, 2000)) > pen.text_size((100, 100)) == pen.SMALLEST_TEXT


def test_nuclei_are_outlined_where_they_are_known() -> None:
    cells = circles([(50, 60), (50, 160)], radius=40)
    assert np.array_equal(pictures.overlay(cells, nuclei=True), pictures.overlay(cells))
    rows, columns = np.mgrid[:100, :240]
    nuclei = np.where(np.hypot(rows - 50, columns - 60) < 12, 1, 0).astype(np.int32)
    known = replace(cells, nuclei=nuclei)
    outlines = pictures.nucleus_outlines(known)
    assert [len(lines) for lines in outlines] == [1, 0]
    assert np.allclose(np.hypot(*(outlines[0][0] - (50, 60)).T), 12, atol=0.8)
    changed = np.argwhere((pictures.overlay(known, nuclei=True) != pictures.overlay(known)).any(axis=2))
    assert np.all(abs(np.hypot(*(changed - (50, 60)).T) - 12) < 3)


def test_values_of_other_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="one value a cell, here 1"):
        pictures.overlay(circles([(50, 60)]), values=[1, 2])


def test_runs_cover_every_edge_once() -> None:
    hidden = np.array([True, False, False, True, True])
    assert pictures.runs(hidden) == [(1, 2, False), (3, 3, True)]
    assert pictures.runs(np.zeros(4, bool)) == [(0, 4, False)] and pictures.runs(np.ones(4, bool)) == [(0, 4, True)]


@pytest.mark.parametrize(
    ("value", "text"), [(15033.2, "15033"), (0.123456, "0.1235"), (12.0, "12"), (-2500.4, "-2500")]
)
def test_readable(value: float, text: str) -> None:
    assert readable(value) == text
