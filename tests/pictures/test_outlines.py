import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from declump import pictures
from declump.records.segmentation import Segmentation


def circles(seeds: list[tuple[float, float]], radius: float = 20, shape: tuple[int, int] = (100, 120)) -> Segmentation:
    count = len(seeds)
    return Segmentation(
        shape, np.array(seeds, float).reshape(-1, 2), np.full((count, 90), float(radius)), np.zeros(count, np.int64)
    )


def drawn(picture: NDArray[np.uint8], background: int = 255) -> NDArray[np.bool_]:
    return (picture != background).any(axis=2)


def test_outline_is_two_pixels_wide_and_dark_rimmed() -> None:
    picture = pictures.overlay(circles([(50, 60)]))
    assert picture.shape == (100, 120, 3) and picture.dtype == np.uint8
    rows, columns = np.nonzero(drawn(picture))
    distance = np.hypot(rows - 50, columns - 60)
    assert np.all((np.abs(distance - 20) < 2.5) | (distance < 4.5))
    colour = np.array(pictures.COLOURS[0])
    pure = np.argwhere((picture == colour).all(axis=2))
    away = np.hypot(*(pure - (50, 60)).T)
    assert np.any(np.abs(away - 20) < 1) and np.any(away < 2)
    assert picture[50, 60].tolist() == colour.tolist()


def test_hidden_outline_is_dashed() -> None:
    """Along the arc inside the other cell the line comes and goes; elsewhere it never stops."""
    picture = pictures.overlay(circles([(50, 45), (50, 70)]))
    angles = np.deg2rad(np.arange(0, 360, 0.5))
    on_line = np.rint(np.column_stack([50 + 20 * np.sin(angles), 45 + 20 * np.cos(angles)])).astype(int)
    bare = ~drawn(picture)[tuple(on_line.T)]
    inside = np.hypot(*(on_line - (50, 70)).T) < 18
    outside = np.hypot(*(on_line - (50, 70)).T) > 21
    assert 0.2 < bare[inside].mean() < 0.6
    assert not bare[outside].any()


def test_a_cell_wholly_inside_another_is_dashed_all_round() -> None:
    outer = circles([(50, 60), (50, 60)])
    radii = outer.radii.copy()
    radii[1] = 8
    picture = pictures.overlay(Segmentation(outer.shape, outer.seeds, radii, outer.clump))
    assert drawn(picture)[42:59, 52:69].any()


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(-30, 130), st.floats(-30, 150)), max_size=7), st.floats(0, 60))
def test_touching_cells_differ_in_colour_wherever_they_lie(seeds: list[tuple[float, float]], radius: float) -> None:
    segmentation = circles(seeds, radius)
    assert pictures.overlay(segmentation).shape == (100, 120, 3)
    colours = pictures.category_colours(segmentation)
    for index in range(len(seeds)):
        for other in range(index):
            apart = np.hypot(*(segmentation.seeds[index] - segmentation.seeds[other]))
            if radius > 1 and apart < 2 * radius - 1:
                assert colours[index] != colours[other]


def test_more_neighbours_than_colours() -> None:
    picture = pictures.overlay(circles([(50, 50 + step) for step in range(12)]))
    assert drawn(picture).any()


def test_seed_without_outline_is_a_dot() -> None:
    picture = pictures.overlay(circles([(50, 60)], radius=0))
    rows, columns = np.nonzero(drawn(picture))
    assert rows.size and np.hypot(rows - 50, columns - 60).max() < 5


def test_no_cell() -> None:
    assert np.array_equal(pictures.overlay(circles([])), np.full((100, 120, 3), 255))


@pytest.mark.parametrize("kind", [np.uint16, np.int32, np.float32, np.float64])
def test_display_stretches_other_numbers(kind: type) -> None:
    image = np.linspace(100, 4000, 64 * 64).reshape(64, 64).astype(kind)
    shown = pictures.to_display(image)
    assert shown.shape == (64, 64, 3) and shown.min() == 0 and shown.max() == 255
    assert np.all(np.diff(shown[..., 0].ravel().astype(int)) >= 0)
    assert np.array_equal(pictures.to_display(np.full((4, 4), 7, kind)), np.zeros((4, 4, 3)))


def test_display_of_bytes_masks_and_opacity() -> None:
    colour = np.random.default_rng(0).integers(0, 256, (9, 8, 3)).astype(np.uint8)
    assert np.array_equal(pictures.to_display(colour), colour)
    assert np.array_equal(pictures.to_display(np.dstack([colour, colour[..., 0]])), colour)
    mask = colour[..., 0] > 127
    assert {*pictures.to_display(mask)[mask].ravel()} == {214} and {*pictures.to_display(mask)[~mask].ravel()} == {255}
    kept = colour.copy()
    pictures.overlay(circles([(4, 4)], radius=3, shape=(9, 8)), colour)
    assert np.array_equal(colour, kept)


@pytest.mark.parametrize("image", [np.zeros(5), np.zeros((5, 5, 2)), np.zeros((0, 5)), np.full((5, 5), np.nan)])
def test_what_cannot_be_shown(image: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match="image"):
        pictures.to_display(image)


def test_mosaic() -> None:
    small, large = np.zeros((4, 6), np.uint8), np.full((8, 6, 3), 9, np.uint8)
    sheet = pictures.mosaic([small, large, large], columns=2, gap=3)
    assert sheet.shape == (8 + 3 + 8, 6 + 3 + 6, 3)
    assert (sheet[2:6, :6] == 0).all() and (sheet[:2, :6] == 255).all()
    assert (sheet[:8, 9:] == 9).all() and (sheet[11:, :6] == 9).all() and (sheet[11:, 6:] == 255).all()
    assert pictures.mosaic([small, small], gap=0).shape == (4, 12, 3)
    for bad in ({"pictures": []}, {"pictures": [small], "columns": 0}, {"pictures": [small], "gap": -1}):
        with pytest.raises(ValueError, match="a mosaic has"):
            pictures.mosaic(**bad)
