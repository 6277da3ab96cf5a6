from __future__ import annotations

import doctest
import importlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import declump
from declump.measurements import Measurements
from declump.records.segmentation import ClumpRecord, Segmentation

RAYS = 360
NUCLEUS_COLUMNS = ("nucleus_area_px2", "nucleus_to_cytoplasm_area_ratio", "nucleus_offset", "nucleus_to_outline_px")


def nuclei_of(shape, discs) -> np.ndarray:
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    labels = np.zeros(shape, dtype=np.int32)
    for index, (row, column, radius) in enumerate(discs):
        labels[np.hypot(rows - row, columns - column) <= radius] = index + 1
    return labels


def smear() -> Segmentation:
    """Two overlapping discs in one clump, one alone in the next, a seed outside, and a clump without a seed."""
    shape = (200, 260)
    seeds = np.array([[70.0, 60.0], [70.0, 100.0], [140.0, 200.0], [5.0, 250.0]])
    radii = np.array([[40.0], [30.0], [35.0], [0.0]]) * np.ones(RAYS)
    records = (
        ClumpRecord(7000, (900, 350), "no decrease"),
        ClumpRecord(4000, (100, 40, 40), "explained"),
        ClumpRecord(50, (50,), "no seed"),
    )
    nuclei = nuclei_of(shape, [(70, 54, 8), (70, 100, 6), (140, 200, 7)])
    return Segmentation(shape, seeds, radii, np.array([0, 0, 1, -1]), records, nuclei)


def picture(cells: Segmentation) -> np.ndarray:
    return np.round(220 * 0.6 ** cells.masks.sum(axis=0)).astype(np.uint8)


@pytest.fixture(scope="module")
def measured() -> Measurements:
    return declump.measure(smear(), picture(smear()), pixel_size=0.5)


def test_who_and_where(measured):
    cells = measured.cells
    assert cells["id"].tolist() == [1, 2, 3, 4]
    assert cells["clump"].tolist() == [1, 1, 2, 0]
    np.testing.assert_array_equal(cells["seed_row_px"], smear().seeds[:, 0])
    np.testing.assert_array_equal(cells["seed_column_um"], smear().seeds[:, 1] / 2)
    np.testing.assert_allclose(cells["centroid_row_px"][:3], smear().seeds[:3, 0], atol=1e-9)
    np.testing.assert_allclose(cells["seed_offset"][:3], 0, atol=1e-9)


def test_sizes_of_discs(measured):
    cells, radius = measured.cells, np.array([40.0, 30.0, 35.0])
    np.testing.assert_allclose(cells["area_px2"][:3], np.pi * radius**2, rtol=1e-3)
    np.testing.assert_allclose(cells["area_in_image_px2"][:3], np.pi * radius**2, rtol=0.01)
    np.testing.assert_allclose(cells["perimeter_px"][:3], 2 * np.pi * radius, rtol=1e-3)
    for name in ("equivalent_diameter_px", "major_axis_px", "minor_axis_px"):
        np.testing.assert_allclose(cells[name][:3], 2 * radius, rtol=1e-3)
    np.testing.assert_allclose(cells["area_relative_to_median"][:3], radius**2 / 35**2, rtol=1e-9)
    np.testing.assert_allclose(cells["eccentricity"][:3], 0, atol=1e-4)
    for name in ("solidity", "circularity", "convexity"):
        np.testing.assert_allclose(cells[name][:3], 1, rtol=1e-3)


def test_overlap_of_two_discs(measured):
    cells, first, second, apart = measured.cells, 40, 30, 40
    one = np.arccos((apart**2 + first**2 - second**2) / (2 * apart * first))
    two = np.arccos((apart**2 + second**2 - first**2) / (2 * apart * second))
    lens = first**2 * (one - np.sin(2 * one) / 2) + second**2 * (two - np.sin(2 * two) / 2)
    np.testing.assert_allclose(cells["overlap_degree"][:3], [one / np.pi, two / np.pi, 0], atol=1 / RAYS)
    np.testing.assert_allclose(cells["overlap_degree"][:3], smear().overlap_degree[:3], rtol=1e-12)
    np.testing.assert_allclose(cells["outline_visible_share"][:3], 1 - cells["overlap_degree"][:3])
    areas = np.pi * np.array([first, second]) ** 2
    np.testing.assert_allclose(cells["overlap_area_share"][:3], [*(lens / areas), 0], rtol=0.01)
    assert cells["overlapping_cells"].tolist() == cells["touching_cells"].tolist() == [1, 1, 0, 0]
    np.testing.assert_allclose(measured.clumps["overlapped_area_px2"], [lens, 0, 0], rtol=0.01)
    assert measured.clumps["overlapped_area_share"][0] == pytest.approx(lens / (areas.sum() - lens), rel=0.01)


def test_a_nucleus_against_its_cell(measured):
    cells, radius, nucleus = measured.cells, np.array([40.0, 30.0, 35.0]), np.array([8.0, 6.0, 7.0])
    np.testing.assert_allclose(cells["nucleus_area_px2"][:3], np.pi * nucleus**2, rtol=0.04)
    np.testing.assert_allclose(cells["nucleus_equivalent_diameter_px"][:3], 2 * nucleus, rtol=0.02)
    np.testing.assert_allclose(cells["nucleus_to_cell_area_ratio"][:3], nucleus**2 / radius**2, rtol=0.04)
    expected = nucleus**2 / (radius**2 - nucleus**2)
    np.testing.assert_allclose(cells["nucleus_to_cytoplasm_area_ratio"][:3], expected, rtol=0.04)
    np.testing.assert_allclose(
        cells["cytoplasm_area_px2"][:3], cells["area_px2"][:3] - cells["nucleus_area_px2"][:3], rtol=1e-12
    )
    np.testing.assert_allclose(cells["nucleus_offset"][:3], [6 / 40, 0, 0], atol=1e-3)
    np.testing.assert_allclose(cells["nucleus_to_outline_px"][:3], [34, 30, 35], atol=0.01)
    np.testing.assert_array_equal(cells["nucleus_inside_share"][:3], 1)


def test_densities(measured):
    np.testing.assert_allclose(measured.cells["cytoplasm_optical_density"][:3], -np.log10(0.6), atol=2e-3)
    np.testing.assert_allclose(measured.cells["cell_optical_density"][:3], -np.log10(0.6), atol=2e-3)


def test_a_seed_without_an_outline(measured):
    cells = {name: values[3] for name, values in measured.cells.items()}
    assert cells["area_px2"] == cells["perimeter_px"] == cells["area_in_image_px2"] == cells["confidence"] == 0
    assert not cells["whole"]
    assert not cells["touches_border"]
    for name in ("solidity", "overlap_degree", "overlap_area_share", "mahalanobis_distance", "cell_optical_density"):
        assert np.isnan(cells[name])
    assert np.isnan(cells["clump_discrepancy_share"])


def test_clumps(measured):
    clumps = measured.clumps
    assert clumps["id"].tolist() == [1, 2, 3]
    assert clumps["cells"].tolist() == [2, 1, 0]
    assert clumps["size_px2"].tolist() == [7000, 4000, 50]
    assert clumps["size_um2"].tolist() == [1750, 1000, 12.5]
    assert clumps["discrepancy_px2"].tolist() == [350, 40, 50]
    assert clumps["discrepancy_share"].tolist() == [0.05, 0.01, 1]
    assert clumps["steps"].tolist() == [1, 2, 0]
    assert clumps["stopped"].tolist() == ["no decrease", "explained", "no seed"]
    assert clumps["most_layers"].tolist() == [2, 1, 0]
    assert clumps["covered_area_px2"][2] == 0
    assert np.isnan(clumps["overlapped_area_share"][2])
    assert clumps["mean_overlap_degree"][0] == pytest.approx(measured.cells["overlap_degree"][:2].mean())
    np.testing.assert_allclose(measured.cells["clump_discrepancy_share"][:3], [0.05, 0.05, 0.01])


def test_the_image(measured):
    image, layers = measured.image, smear().masks.sum(axis=0)
    assert (image["height_px"], image["width_um"]) == (200, 130)
    assert (image["cells"], image["cells_without_outline"], image["whole_cells"]) == (4, 1, 3)
    assert (image["overlapping_cells"], image["clumps"], image["clumps_without_cells"]) == (2, 3, 1)
    assert image["clump_area_px2"] == 11050
    assert image["explained_share"] == pytest.approx(1 - 440 / 11050)
    assert image["covered_area_px2"] == np.count_nonzero(layers)
    assert image["covered_area_share"] == pytest.approx(np.mean(layers > 0))
    assert image["overlapped_area_share"] == pytest.approx(np.sum(layers > 1) / np.sum(layers > 0))
    assert image["median_area_px2"] == pytest.approx(np.pi * 35**2, rel=1e-3)
    assert image["median_area_um2"] == pytest.approx(image["median_area_px2"] / 4)
    for name in ("nucleus_to_cytoplasm_area_ratio", "nucleus_to_cell_area_ratio", "nucleus_area_px2"):
        assert image[f"median_{name}"] == np.median(measured.cells[name][:3])
    for name in ("overlap_degree", "overlap_area_share"):
        assert image[f"mean_{name}"] == pytest.approx(measured.cells[name][:3].mean())
    assert image["mean_confidence"] == pytest.approx(measured.cells["confidence"].mean())


def test_micrometres_follow_the_pixel_size(measured):
    plain = declump.measure(smear(), picture(smear()))
    assert plain.pixel_size is None
    assert not any(name.endswith(("_um", "_um2")) for name in (*plain.cells, *plain.clumps, *plain.image))
    np.testing.assert_array_equal(measured.cells["area_um2"], plain.cells["area_px2"] / 4)
    np.testing.assert_array_equal(measured.cells["perimeter_um"], plain.cells["perimeter_px"] / 2)
    for name, values in plain.cells.items():
        np.testing.assert_array_equal(measured.cells[name], values)


def test_without_nuclei_and_image_and_records():
    bare = declump.measure(replace(smear(), nuclei=None, clumps=()))
    for name in (*NUCLEUS_COLUMNS, "nucleus_optical_density", "cell_optical_density", "clump_discrepancy_share"):
        assert np.isnan(bare.cells[name]).all(), name
    assert bare.cells["area_px2"][0] > 0
    assert ((bare.cells["confidence"] >= 0) & (bare.cells["confidence"] <= 1)).all()
    assert bare.clumps["cells"].tolist() == [2, 1]
    assert np.isnan(bare.clumps["size_px2"]).all()
    assert np.isnan(bare.image["explained_share"])
    assert np.isnan(bare.image["median_nucleus_to_cytoplasm_area_ratio"])


@pytest.mark.parametrize("nuclei", [None, np.zeros((50, 60), dtype=np.int32)])
def test_an_empty_segmentation(nuclei):
    empty = Segmentation((50, 60), np.empty((0, 2)), np.empty((0, 36)), np.empty(0, dtype=np.int64), (), nuclei)
    found = declump.measure(empty, np.zeros((50, 60, 3), dtype=np.uint8), pixel_size=1.0)
    assert all(values.shape == (0,) for values in (*found.cells.values(), *found.clumps.values()))
    assert found.image["cells"] == found.image["clumps"] == found.image["covered_area_px2"] == 0
    assert np.isnan(found.image["mean_overlap_degree"])


def test_cells_that_the_border_cuts():
    seeds = np.array([[0.0, 50.0], [50.0, 50.0], [19.5, 90.0]])
    cut = Segmentation((100, 120), seeds, np.full((3, RAYS), 20.0), np.array([0, 1, 2]))
    cells = declump.measure(cut).cells
    assert cells["whole"].tolist() == [False, True, True]
    assert cells["touches_border"].tolist() == [True, False, True]
    np.testing.assert_allclose(cells["area_px2"], np.pi * 400, rtol=1e-3)
    np.testing.assert_allclose(cells["area_in_image_px2"][:2], [np.pi * 200 + 20, np.pi * 400], rtol=0.02)
    np.testing.assert_allclose(cells["outline_visible_share"], [0.5 + np.arcsin(0.5 / 20) / np.pi, 1, 1], atol=2 / RAYS)


def test_a_cell_wholly_outside_the_image():
    away = Segmentation((60, 60), np.array([[-50.0, 30.0], [30.0, 30.0]]), np.full((2, 90), 20.0), np.array([0, 0]))
    cells = declump.measure(away, np.full((60, 60), 99, dtype=np.uint8)).cells
    assert cells["area_in_image_px2"][0] == cells["outline_visible_share"][0] == 0
    assert cells["area_px2"][0] > 0
    assert np.isnan([cells["overlap_area_share"][0], cells["cell_optical_density"][0]]).all()


def test_a_nucleus_that_fills_or_leaves_its_cell():
    """What sticks out of the cell is not taken from its cytoplasm."""
    shape, seeds = (60, 120), np.array([[30.0, 30.0], [30.0, 90.0]])
    nuclei = nuclei_of(shape, [(30, 30, 25), (30, 100, 8)])
    cells = declump.measure(Segmentation(shape, seeds, np.full((2, 180), 10.0), np.array([0, 1]), (), nuclei)).cells
    assert cells["nucleus_inside_share"][0] == pytest.approx(100 / 625, rel=0.05)
    assert cells["cytoplasm_area_px2"][0] == pytest.approx(0, abs=10)
    assert cells["nucleus_to_cell_area_ratio"][0] > 6
    assert 0 < cells["nucleus_inside_share"][1] < 1
    inside = cells["nucleus_inside_share"][1] * cells["nucleus_area_px2"][1]
    assert cells["cytoplasm_area_px2"][1] == pytest.approx(cells["area_px2"][1] - inside)


def test_shapes_are_counted_by_the_given_prior():
    prior = declump.ShapePrior.fit(np.array([20.0, 22.0, 24.0, 26.0])[:, None] * np.ones(RAYS))
    cells = declump.measure(smear(), prior=prior).cells
    spread = 23 * np.abs(np.array([40, 30, 35]) / 35 - 1) / np.sqrt(5)
    np.testing.assert_allclose(np.abs(cells["shape_coefficient_1"][:3]), spread, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(cells["mahalanobis_distance"][:3], spread, rtol=1e-6, atol=1e-9)
    assert np.isnan(cells["shape_coefficient_2"]).all()


def test_the_default_prior_is_meant_by_none():
    named, unnamed = (declump.measure(smear(), prior=prior).cells for prior in ("default", None))
    np.testing.assert_array_equal(named["mahalanobis_distance"], unnamed["mahalanobis_distance"])


@pytest.mark.parametrize("size", [0, -1.0, np.nan, np.inf])
def test_a_pixel_size_that_is_none_is_refused(size):
    with pytest.raises(ValueError, match="micrometres > 0"):
        declump.measure(smear(), pixel_size=size)


def test_an_image_of_another_size_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"\(10, 20\) pixels.*\(200, 260\): give the image that was segmented"):
        declump.measure(smear(), np.zeros((10, 20)))


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="one value a row"):
        Measurements({"a": np.zeros(2), "b": np.zeros(3)}, {}, {})


def test_examples_hold():
    for name in ("tables", "calibration"):
        result = doctest.testmod(importlib.import_module(f"declump.measurements.{name}"))
        assert result.attempted > 0
        assert result.failed == 0


def test_the_segmentation_is_left_as_it_was():
    cells = smear()
    before = (cells.seeds.copy(), cells.radii.copy(), cells.clump.copy(), cells.nuclei.copy())
    declump.measure(cells, picture(cells), pixel_size=2.0)
    for old, new in zip(before, (cells.seeds, cells.radii, cells.clump, cells.nuclei), strict=True):
        np.testing.assert_array_equal(old, new)


SAME_WHEREVER_IT_LIES = (
    "area_px2", "area_in_image_px2", "perimeter_px", "major_axis_px", "minor_axis_px", "solidity", "circularity",
    "convexity", "overlap_degree", "overlap_area_share", "overlapping_cells", "touching_cells", "outline_visible_share",
    "nucleus_area_px2", "nucleus_perimeter_px", "nucleus_solidity", "nucleus_to_cytoplasm_area_ratio", "nucleus_offset",
    "nucleus_to_outline_px", "cell_optical_density",
)  # fmt: skip


@st.composite
def clumps(draw) -> Segmentation:
    """A few star-shaped cells on whole pixels in the middle of an image with room round them."""
    count = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    prior = declump.ShapePrior.load("default")
    coefficients = np.clip(rng.normal(size=(count, 24)), -1, 1) * np.sqrt(prior.variances)
    radii = np.maximum(0.35 * prior.instance(coefficients), 3)
    seeds = rng.choice(np.stack(np.mgrid[100:140, 100:140], -1).reshape(-1, 2), count, replace=False).astype(float)
    nuclei = nuclei_of((240, 240), [(row, column, 3) for row, column in seeds])
    return Segmentation((240, 240), seeds, radii, np.zeros(count, dtype=np.int64), (), nuclei)


@settings(max_examples=20)
@given(clumps(), st.integers(-30, 30), st.integers(-30, 30), st.booleans(), st.integers(0, 3))
def test_moving_turning_and_mirroring_the_image_changes_nothing(cells, down, across, mirror, quarters):
    """All by whole pixels and quarter turns, so that pixels fall on pixels."""
    seeds, radii, nuclei = (
        cells.seeds + np.array([down, across]),
        cells.radii,
        np.roll(cells.nuclei, (down, across), (0, 1)),
    )
    image = np.round(220 * 0.6 ** replace(cells, seeds=seeds).masks.sum(axis=0)).astype(np.uint8)
    if mirror:
        seeds, nuclei, image = seeds * (-1, 1) + (239, 0), nuclei[::-1], image[::-1]
        radii = np.roll(radii[:, ::-1], 1, axis=1)
    for _ in range(quarters):
        # Rotation of the array by 90 degrees: (row, column) becomes (239 - column, row).
        seeds = np.column_stack([239 - seeds[:, 1], seeds[:, 0]])
        nuclei, image, radii = np.rot90(nuclei), np.rot90(image), np.roll(radii, -RAYS // 4, axis=1)
    moved = Segmentation(cells.shape, seeds, radii, cells.clump, (), np.ascontiguousarray(nuclei))
    here, there = declump.measure(cells, picture(cells)).cells, declump.measure(moved, image).cells
    for name in SAME_WHEREVER_IT_LIES:
        # A pixel centre on an outline may fall to either side of it by rounding.
        np.testing.assert_allclose(there[name], here[name], rtol=5e-3, atol=5e-3, err_msg=name)


@settings(max_examples=20)
@given(clumps())
def test_shares_keep_within_their_bounds(cells):
    found = declump.measure(cells, picture(cells)).cells
    for name in ("overlap_degree", "overlap_area_share", "outline_visible_share", "nucleus_inside_share", "confidence"):
        assert ((found[name] >= 0) & (found[name] <= 1)).all(), name
    assert (found["overlap_degree"] + found["outline_visible_share"] <= 1 + 1e-9).all()
    assert (found["overlapping_cells"] <= found["touching_cells"]).all()
    assert (found["touching_cells"] < len(cells)).all()
    ratio = found["nucleus_to_cytoplasm_area_ratio"]
    assert (ratio[np.isfinite(ratio)] >= found["nucleus_to_cell_area_ratio"][np.isfinite(ratio)]).all()


@pytest.mark.parametrize("size", [1e300, 1e-300, 0, np.nan, np.inf])
def test_sizes_of_pixels_that_cannot_be_are_refused(size: float) -> None:
    empty = Segmentation((9, 9), np.empty((0, 2)), np.empty((0, 16)), np.empty(0, np.int64))
    with pytest.raises(ValueError, match="the pixel size is a number of micrometres"):
        declump.measure(empty, pixel_size=size)
