from __future__ import annotations

import io
import re
from base64 import b64decode

import numpy as np
import pytest
from PIL import Image

import declump
from declump.drawing.outlines import LARGEST
from declump.drawing.palette import COLOURS, RAMP


def overlapping(shape=(120, 160), radius=30.0) -> declump.Segmentation:
    """Two cells that overlap, and one without an outline."""
    radii = np.full((3, 90), radius)
    radii[2] = 0
    seeds = np.array([(60.0, 60.0), (60.0, 90.0), (5.0, 5.0)])
    return declump.Segmentation(shape, seeds, radii, np.array([0, 0, -1]))


def test_the_table_has_a_row_a_cell():
    pytest.importorskip("pandas", reason="pandas is not installed")
    result = overlapping()
    table = result.to_pandas()
    assert table.index.tolist() == [1, 2, 3] and table.index.name == "id"
    assert table["area_px"].tolist() == pytest.approx(result.areas.tolist(), abs=0.06)
    assert table["clump"].tolist()[:2] == [1, 1] and np.isnan(table["clump"][3])
    whole = declump.measure(result).to_pandas()
    assert whole.equals(result.to_pandas(declump.measure(result).cells))
    assert whole.loc[1, "overlapping_cells"] == 1
    assert result.to_pandas({"grade": [3, 2, 1]})["grade"].tolist() == [3, 2, 1]
    with pytest.raises(ValueError, match="2 rows; give one for each of the 3"):
        result.to_pandas({"grade": [3, 2]})


def test_polygons_overlap_and_lie_where_pixels_have_their_corners():
    pytest.importorskip("shapely", reason="shapely is not installed")
    result = overlapping()
    first, second, nothing = result.to_shapely()
    assert first.area == pytest.approx(result.areas[0]) and nothing.is_empty
    assert (first.centroid.x, first.centroid.y) == pytest.approx((60.5, 60.5))
    both = result.masks[0] & result.masks[1]
    assert first.intersection(second).area == pytest.approx(both.sum(), rel=0.03)


def test_an_outline_that_touches_itself_becomes_a_valid_polygon():
    pytest.importorskip("shapely", reason="shapely is not installed")
    radii = np.full((1, 90), 20.0)
    radii[0, 10:20] = radii[0, 50:60] = 0
    result = declump.Segmentation((80, 80), np.array([(40.0, 40.0)]), radii, np.array([0]))
    (polygon,) = result.to_shapely()
    assert polygon.is_valid and polygon.area == pytest.approx(result.areas[0])


@pytest.mark.parametrize(("shape", "expected"), [((120, 160), (120, 160)), ((1200, 1600), (600, LARGEST))])
def test_a_notebook_shows_the_outlines_and_a_line_of_figures(shape, expected):
    result = overlapping(shape, radius=30.0)
    picture = np.asarray(Image.open(io.BytesIO(result._repr_png_())))
    assert picture.shape == (*expected, 3)
    scale = expected[0] / shape[0]
    row, left = (60.5 * scale, (60.5 - 30) * scale)
    assert any(picture[round(row), round(left)].tolist() == list(colour) for colour in COLOURS)
    assert (picture[-5:] == 255).all()
    page = result._repr_html_()
    assert "Segmentation of 3 cells" in page and "\n" not in page
    embedded = re.search(r'base64,([^"]+)"', page)
    assert embedded and b64decode(embedded[1]) == result._repr_png_()


def test_an_image_without_cells_is_shown_as_well():
    nothing = declump.Segmentation((9, 9), np.zeros((0, 2)), np.zeros((0, 16)), np.zeros(0, np.int64))
    assert "0 cells" in nothing._repr_html_() and nothing.to_columns()["id"] == []


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_a_plot_has_solid_and_dashed_lines_where_the_outlines_lie(pyplot):
    result = overlapping()
    axes = result.plot(np.zeros(result.shape, np.uint8), linewidths=1)
    solid, dashed = axes.collections
    assert len(solid.get_segments()) == len(dashed.get_segments()) == 2
    points = np.vstack([*solid.get_segments(), *dashed.get_segments()])
    distance = np.minimum(*(np.hypot(*(points - seed[::-1]).T) for seed in result.seeds[:2]))
    assert (distance < 30.001).all()
    inside = np.vstack(dashed.get_segments())
    assert (np.minimum(*(np.hypot(*(inside - seed[::-1]).T) for seed in result.seeds[:2])) < 30).any()
    assert axes.get_xlim() == (-0.5, 159.5) and axes.get_ylim() == (119.5, -0.5) and len(axes.images) == 1


def test_a_plot_by_values_goes_into_given_axes(pyplot):
    _, axes = pyplot.subplots()
    assert overlapping().plot(axes=axes, values=[0.0, 1.0, 2.0]) is axes
    tones = np.rint(axes.collections[0].get_colors()[:, :3] * 255).astype(int).tolist()
    assert list(RAMP[0]) in tones
    with pytest.raises(ValueError, match="one value a cell, here 3"):
        overlapping().plot(values=[1.0])
    with pytest.raises(ValueError, match="give the image that was segmented"):
        overlapping().plot(np.zeros((4, 4)))
