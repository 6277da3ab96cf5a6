from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.draw import polygon2mask

from declump import _kernels
from declump.shapes import contours

numbers = st.integers(0, 2**32 - 1)
shares = st.floats(0, 1)


def place(shape: tuple[int, int], down: float, across: float) -> tuple[float, float]:
    """A point of the image, its borders half a pixel outside the outer pixel centres included."""
    return down * shape[0] - 0.5, across * shape[1] - 0.5


def blobs(shape: tuple[int, int], number: int) -> np.ndarray:
    """A mask of a few discs, or of noise: star-convex or not, with holes, cut by the border or not."""
    rng = np.random.default_rng(number)
    if number % 3 == 0:
        return rng.random(shape) < rng.random()
    rows, columns = np.indices(shape)
    mask = np.zeros(shape, dtype=bool)
    for _ in range(rng.integers(1, 5)):
        row, column, radius = rng.random(3) * (*shape, max(shape) / 2)
        mask |= np.hypot(rows - row, columns - column) <= radius
    return mask


def smooth_radii(number: int, rays: int, size: float, depth: float = 0.35) -> np.ndarray:
    """Radii of a smooth star-convex shape: a few harmonics round a mean radius."""
    rng = np.random.default_rng(number)
    angles = 2 * np.pi * np.arange(rays) / rays
    waves = [rng.normal() / order * np.cos(order * angles + rng.uniform(0, 2 * np.pi)) for order in (2, 3, 4)]
    profile = np.sum(waves, axis=0)
    return size * (1 + depth * profile / max(np.abs(profile).max(), 1e-9))


def any_radii(number: int, rays: int) -> np.ndarray:
    """Smooth or jagged radii, sometimes zero on a ray."""
    if number % 2:
        return smooth_radii(number, rays, 4 + number % 20)
    rng = np.random.default_rng(number)
    return rng.uniform(0, 25, rays) * (rng.random(rays) > 0.05)


def distance_to_outline(shape: tuple[int, int], vertices: np.ndarray) -> np.ndarray:
    """Distance of every pixel centre to the nearest edge of a polygon."""
    points = np.moveaxis(np.indices(shape), 0, -1)[:, :, None, :].astype(float)
    start, edge = vertices, np.roll(vertices, -1, axis=0) - vertices
    along = np.sum((points - start) * edge, axis=-1) / np.maximum(np.sum(edge**2, axis=-1), 1e-30)
    nearest = start + np.clip(along, 0, 1)[..., None] * edge
    return np.linalg.norm(points - nearest, axis=-1).min(axis=-1)


def dice(one: np.ndarray, two: np.ndarray) -> float:
    return 2 * np.sum(one & two) / (np.sum(one) + np.sum(two))


def outermost_by_looking(mask: np.ndarray, seed: tuple[float, float], rays: int) -> tuple[np.ndarray, np.ndarray]:
    """The outermost crossings as they follow from `sample_ray`."""
    radii, cut = np.zeros(rays), np.zeros(rays, dtype=bool)
    for ray, direction in enumerate(zip(*contours.directions(rays), strict=True)):
        distances, values = contours.sample_ray(mask, seed, direction)
        held = np.flatnonzero(values >= 0.5)
        if held.size and held[-1] == len(values) - 1:
            radii[ray], cut[ray] = distances[-1], True
        elif held.size:
            last = held[-1]
            share = (values[last] - 0.5) / (values[last] - values[last + 1])
            radii[ray] = distances[last] + share * (distances[last + 1] - distances[last])
    return radii, cut


def exits_by_looking(mask: np.ndarray, seed: tuple[float, float], rays: int) -> np.ndarray:
    """The first exits as they follow from `sample_ray`."""
    exits = np.zeros(rays)
    for ray, direction in enumerate(zip(*contours.directions(rays), strict=True)):
        distances, values = contours.sample_ray(mask, seed, direction)
        left = np.flatnonzero(values < 0.5)
        if not left.size:
            exits[ray] = np.inf
        elif left[0] > 0:
            first = left[0]
            share = (values[first - 1] - 0.5) / (values[first - 1] - values[first])
            exits[ray] = distances[first - 1] + share * (distances[first] - distances[first - 1])
    return exits


# Rays


@given(st.tuples(st.integers(1, 40), st.integers(1, 40)), numbers, shares, shares, st.integers(16, 90))
def test_crossings_and_exits_follow_from_looking_along_the_rays(shape, number, down, across, rays):
    mask, seed = blobs(shape, number), place(shape, down, across)
    radii, cut = contours.outermost_crossings(mask, seed, rays)
    expected_radii, expected_cut = outermost_by_looking(mask, seed, rays)
    np.testing.assert_allclose(radii, expected_radii, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(cut, expected_cut)
    np.testing.assert_allclose(
        contours.first_exits(mask, seed, rays), exits_by_looking(mask, seed, rays), rtol=0, atol=1e-9
    )


@given(st.tuples(st.integers(1, 30), st.integers(1, 30)), numbers, shares, shares, st.integers(16, 90))
def test_a_ray_first_leaves_no_later_than_it_last_leaves(shape, number, down, across, rays):
    mask, seed = blobs(shape, number), place(shape, down, across)
    radii, cut = contours.outermost_crossings(mask, seed, rays)
    exits = contours.first_exits(mask, seed, rays)
    closed = np.isfinite(exits)
    assert np.all(exits[closed] <= radii[closed] + 1e-9)
    assert np.all(cut[~closed])


def test_sample_ray_reads_between_pixels_and_ends_at_the_border():
    mask = np.array([[True, False, True]])
    distances, values = contours.sample_ray(mask, (0.0, 0.0), (0.0, 1.0))
    np.testing.assert_allclose(distances, [0, 0.5, 1, 1.5, 2, 2.5])
    np.testing.assert_allclose(values, [1, 0.5, 0, 0.5, 1, 1])


def test_rays_along_the_axes_end_exactly_half_way_between_pixels():
    mask = np.zeros((40, 50), dtype=bool)
    mask[8:31, 12:41] = True
    expected = [40.5 - 20.25, 30.5 - 15.75, 20.25 - 11.5, 15.75 - 7.5]
    radii, cut = contours.outermost_crossings(mask, (15.75, 20.25), 16)
    np.testing.assert_allclose(radii[::4], expected, atol=1e-12)
    np.testing.assert_allclose(contours.first_exits(mask, (15.75, 20.25), 16)[::4], expected, atol=1e-12)
    assert not cut.any()


@given(st.floats(30, 34), st.floats(38, 42), st.floats(12, 24), st.integers(16, 90))
def test_radii_of_a_disc(row, column, radius, rays):
    rows, columns = np.indices((64, 80))
    mask = np.hypot(rows - row, columns - column) <= radius
    radii, cut = contours.outermost_crossings(mask, (row, column), rays)
    np.testing.assert_allclose(radii, radius, rtol=0, atol=0.6)
    assert not cut.any()
    np.testing.assert_allclose(contours.first_exits(mask, (row, column), rays), radius, rtol=0, atol=0.6)


def test_radii_of_discs_are_right_on_average():
    rng = np.random.default_rng(5)
    rows, columns = np.indices((64, 64))
    errors = []
    for _ in range(100):
        row, column, radius = rng.uniform(30, 34), rng.uniform(30, 34), rng.uniform(12, 24)
        mask = np.hypot(rows - row, columns - column) <= radius
        errors.append(contours.outermost_crossings(mask, (row, column), 90)[0] - radius)
    assert abs(np.mean(errors)) < 0.05


@given(st.floats(0, np.pi), st.integers(24, 90))
def test_radii_of_an_ellipse_seen_from_a_point_off_its_centre(turn, rays):
    long, short, centre, seed = 30.0, 20.0, np.array([42.0, 40.0]), np.array([45.0, 36.5])
    axes = np.array([[np.sin(turn), np.cos(turn)], [np.cos(turn), -np.sin(turn)]]) / [[long], [short]]
    points = np.moveaxis(np.indices((84, 84)), 0, -1) - centre
    mask = np.sum((points @ axes.T) ** 2, axis=-1) <= 1
    radii, _ = contours.outermost_crossings(mask, seed, rays)
    # |A (o + r u)|^2 = 1 for offset o and direction u is a quadratic equation in r.
    offset, towards = axes @ (seed - centre), axes @ np.array(contours.directions(rays))
    a, b, c = np.sum(towards**2, axis=0), offset @ towards, offset @ offset - 1
    expected = (-b + np.sqrt(b**2 - a * c)) / a
    np.testing.assert_allclose(radii, expected, rtol=0, atol=0.9)
    assert abs(np.mean(radii - expected)) < 0.2


def test_rays_cut_by_the_border_are_flagged_and_end_there():
    rows, columns = np.indices((60, 60))
    mask = np.hypot(rows - 30, columns - 50) <= 20
    radii, cut = contours.outermost_crossings(mask, (30, 50), 72)
    to_border = np.full(72, np.inf)
    right = np.cos(2 * np.pi * np.arange(72) / 72) > 1e-9
    to_border[right] = 9.5 / np.cos(2 * np.pi * np.arange(72) / 72)[right]
    np.testing.assert_array_equal(cut[to_border < 19], True)
    np.testing.assert_array_equal(cut[to_border > 21], False)
    np.testing.assert_allclose(radii[cut], to_border[cut], atol=1e-9)
    np.testing.assert_allclose(radii[~cut], 20, atol=0.75)
    assert np.isinf(contours.first_exits(mask, (30, 50), 72)[to_border < 19]).all()


def test_a_cell_that_is_no_star_is_measured_to_its_outermost_boundary():
    mask = np.zeros((21, 60), dtype=bool)
    mask[5:16, 5:15] = mask[5:16, 40:50] = True
    radii, _ = contours.outermost_crossings(mask, (10, 10), 16)
    assert radii[0] == pytest.approx(49.5 - 10)
    assert contours.first_exits(mask, (10, 10), 16)[0] == pytest.approx(14.5 - 10)


def test_a_ray_that_meets_no_mask_has_radius_zero():
    mask = np.zeros((21, 60), dtype=bool)
    mask[5:16, 40:50] = True
    radii, cut = contours.outermost_crossings(mask, (10, 10), 16)
    assert radii[0] == pytest.approx(39.5)
    np.testing.assert_array_equal(radii[2:15], 0)
    assert not cut.any()


def test_from_a_seed_outside_the_mask_all_exits_are_zero():
    mask = np.zeros((21, 60), dtype=bool)
    mask[5:16, 40:50] = True
    np.testing.assert_array_equal(contours.first_exits(mask, (10, 10), 16), 0)


@pytest.mark.parametrize("seed", [(-0.6, 3), (3, 9.6), (np.nan, 3), (3, np.inf)])
@pytest.mark.parametrize("measure", [contours.outermost_crossings, contours.first_exits])
def test_seeds_outside_the_image_are_refused(measure, seed):
    with pytest.raises(ValueError, match="outside the image"):
        measure(np.ones((10, 10), dtype=bool), seed, 16)


@pytest.mark.parametrize("measure", [contours.outermost_crossings, contours.first_exits])
def test_arrays_of_a_wrong_shape_are_refused(measure):
    with pytest.raises(ValueError, match="mask"):
        measure(np.ones((3, 10, 10), dtype=bool), (3, 3), 16)
    with pytest.raises(ValueError, match="mask"):
        measure(np.ones((0, 10), dtype=bool), (0, 3), 16)
    with pytest.raises(ValueError, match="seed"):
        measure(np.ones((10, 10), dtype=bool), (3, 3, 3), 16)
    with pytest.raises(ValueError, match="at least 16 rays, not 15"):
        measure(np.ones((10, 10), dtype=bool), (3, 3), 15)


# Polygons and masks


def test_directions_run_from_columns_towards_rows():
    rows, columns = contours.directions(16)
    np.testing.assert_allclose([rows[0], columns[0]], [0, 1], atol=1e-15)
    np.testing.assert_allclose([rows[4], columns[4]], [1, 0], atol=1e-15)


def test_polygon_goes_through_the_ends_of_the_radii():
    vertices = contours.polygon((10.5, 20), np.arange(1.0, 17))
    np.testing.assert_allclose(vertices[[0, 4, 8, 12]], [(10.5, 21), (15.5, 20), (10.5, 11), (-2.5, 20)], atol=1e-12)


outlines = st.tuples(numbers, st.integers(16, 90), st.floats(-15, 65), st.floats(-15, 75))


@given(outlines)
def test_filled_contour_is_the_polar_test_on_the_pixel_grid(outline):
    number, rays, *seed = outline
    radii, shape = any_radii(number, rays), (50, 60)
    filled = contours.to_mask(seed, radii, shape)
    expected = contours.inside(np.moveaxis(np.indices(shape), 0, -1), seed, radii)
    different = filled != expected
    if different.any():
        assert distance_to_outline(shape, contours.polygon(seed, radii))[different].max() < 1e-9


@given(outlines)
def test_compiled_test_of_points_is_the_polar_test(outline):
    number, rays, *seed = outline
    radii, points = any_radii(number, rays), np.random.default_rng(number).uniform(-20, 80, (200, 2))
    inside = _kernels.points_inside(points, *seed, radii, *contours.directions(rays))
    assert (inside == contours.inside(points, seed, radii)).all()


@given(numbers, st.integers(1, 6), st.integers(16, 90))
def test_points_that_other_contours_cover_are_those_inside_them(number, cells, rays):
    rng = np.random.default_rng(number)
    places, ends = rng.uniform(0, 60, (cells, 2)), rng.uniform(0, 40, (cells, rays))
    radii = np.stack([any_radii(number + cell, rays) for cell in range(cells)])
    radii[rng.random(cells) < 0.2] = 0
    reaches, towards = radii.max(axis=1), contours.directions(rays)
    covered = np.zeros((cells, rays), bool)
    _kernels.find_covered(ends, places, radii, reaches, *towards, covered)
    for cell in range(cells):
        points = places[cell] + ends[cell][:, None] * np.column_stack(towards)
        others = [other for other in range(cells) if other != cell and reaches[other] > 0 and reaches[cell] > 0]
        inside = [contours.inside(points, places[other], radii[other]) for other in others]
        np.testing.assert_array_equal(covered[cell], np.any(inside, axis=0) if inside else False)


@given(st.tuples(st.integers(0, 49), st.integers(0, 59)), numbers, st.integers(16, 90))
def test_filled_contour_round_a_pixel_centre_is_the_polar_test_on_the_pixel_grid(seed, number, rays):
    radii, shape = any_radii(number, rays), (50, 60)
    expected = contours.inside(np.moveaxis(np.indices(shape), 0, -1), seed, radii)
    different = contours.to_mask(seed, radii, shape) != expected
    if different.any():
        assert distance_to_outline(shape, contours.polygon(seed, radii))[different].max() < 1e-9


@given(outlines)
def test_filled_contour_is_the_filled_polygon(outline):
    number, rays, *seed = outline
    radii, shape = any_radii(number, rays), (50, 60)
    vertices = contours.polygon(seed, radii)
    different = contours.to_mask(seed, radii, shape) != polygon2mask(shape, vertices)
    if different.any():
        assert distance_to_outline(shape, vertices)[different].max() < 1e-6


@pytest.mark.parametrize("seed", [(35, 35), (35, 35.25), (1e-20, 35)])
@pytest.mark.parametrize("rays", [16, 36, 54, 90])
def test_nothing_is_filled_beyond_a_spike_between_two_empty_rays(rays, seed):
    radii = np.full(rays, 30.0)
    radii[[rays - 1, 0, 1]] = radii[rays // 2 - 1 : rays // 2 + 2] = 0, 8, 0
    row, columns = int(seed[0]), np.arange(71)
    beyond = np.abs(columns - seed[1]) > 8.5
    assert not contours.to_mask(seed, radii, (71, 71))[row, beyond].any()
    points = np.column_stack([np.full(71, row), columns])
    assert not contours.inside(points, seed, radii)[beyond].any()


def test_a_contour_wholly_outside_the_image_fills_nothing():
    assert not contours.to_mask((-30, 80), np.full(16, 20.0), (50, 60)).any()
    assert contours.bounding_box((-30, 80), np.full(16, 20.0), (50, 60)) == (0, 60, 0, 60)


def test_an_empty_contour_fills_nothing():
    assert not contours.to_mask((20, 20), np.zeros(36), (50, 60)).any()


@given(numbers, st.integers(16, 360))
def test_area_is_that_of_the_shoelace_formula(number, rays):
    radii = any_radii(number, rays)
    rows, columns = contours.polygon((0, 0), radii).T
    shoelace = np.sum(columns * np.roll(rows, -1) - np.roll(columns, -1) * rows) / 2
    assert contours.area(radii) == pytest.approx(shoelace, rel=1e-12, abs=1e-9)


@given(numbers, st.floats(38, 42), st.floats(38, 42), st.floats(10, 25))
def test_area_is_about_the_number_of_filled_pixels(number, row, column, size):
    radii = smooth_radii(number, 90, size)
    count = np.sum(contours.to_mask((row, column), radii, (80, 80)))
    assert count == pytest.approx(contours.area(radii), abs=3.5 * np.sqrt(size))


def test_areas_of_many_contours():
    radii = np.array([np.full(360, 10.0), np.full(360, 20.0)])
    np.testing.assert_allclose(contours.area(radii), np.pi * np.array([100, 400]), rtol=1e-3)


@given(outlines)
def test_bounding_box_holds_the_whole_mask(outline):
    number, rays, *seed = outline
    radii, shape = any_radii(number, rays), (50, 60)
    mask = contours.to_mask(seed, radii, shape)
    top, left, bottom, right = contours.bounding_box(seed, radii, shape)
    assert 0 <= top <= bottom <= 50
    assert 0 <= left <= right <= 60
    assert mask.sum() == mask[top:bottom, left:right].sum()


@given(numbers, st.floats(38, 42), st.floats(38, 42), st.floats(8, 25))
def test_bounding_box_is_tight_to_a_pixel(number, row, column, size):
    radii = smooth_radii(number, 90, size)
    rows, columns = np.nonzero(contours.to_mask((row, column), radii, (80, 80)))
    extent = [rows.min(), columns.min(), rows.max() + 1, columns.max() + 1]
    np.testing.assert_allclose(contours.bounding_box((row, column), radii, (80, 80)), extent, atol=1)


@settings(max_examples=50)
@given(numbers, st.floats(46, 54), st.floats(46, 54), st.floats(20, 32))
def test_a_smooth_star_shape_survives_the_way_through_radii(number, row, column, size):
    mask = contours.to_mask((row, column), smooth_radii(number, 360, size), (100, 100))
    radii, cut = contours.outermost_crossings(mask, (row, column), 90)
    assert not cut.any()
    assert dice(contours.to_mask((row, column), radii, mask.shape), mask) > 0.98


# Overlap


@given(st.floats(0.05, 1.95), st.floats(0, 2 * np.pi))
def test_overlap_degree_of_two_equal_discs_is_the_share_of_the_hidden_arc(apart, turn):
    radius, rays = 20.0, 360
    seeds = np.array([(0.0, 0.0), (radius * apart * np.sin(turn), radius * apart * np.cos(turn))])
    degrees = contours.overlap_degree(seeds, np.full((2, rays), radius))
    np.testing.assert_allclose(degrees, np.arccos(apart / 2) / np.pi, atol=2 / rays)


def test_overlap_degree_counts_a_stretch_under_two_cells_once():
    seeds = [(0, 0), (0, 20), (0, 20)]
    two = contours.overlap_degree(seeds[:2], np.full((2, 360), 20.0))
    three = contours.overlap_degree(seeds, np.full((3, 360), 20.0))
    assert three[0] == pytest.approx(two[0])


def test_overlap_degree_of_hidden_lonely_and_empty_cells():
    seeds = [(0, 0), (1, 1), (100, 100), (0, 0)]
    radii = np.array([[20.0], [10.0], [10.0], [0.0]]) * np.ones(36)
    np.testing.assert_array_equal(contours.overlap_degree(seeds, radii), [0, 1, 0, 0])
    assert contours.overlap_degree(np.empty((0, 2)), np.empty((0, 36))).shape == (0,)


# Turning


@given(numbers, st.integers(16, 90), st.integers(-200, 200))
def test_turning_by_whole_rays_moves_the_radii_along(number, rays, shift):
    radii = any_radii(number, rays)
    np.testing.assert_allclose(contours.rotate(radii, 2 * np.pi * shift / rays), np.roll(radii, shift), atol=1e-9)


@given(numbers, st.floats(-7, 7))
def test_turning_a_smooth_shape_follows_its_formula_and_undoes_itself(number, angle):
    angles = 2 * np.pi * np.arange(90) / 90
    phase = np.random.default_rng(number).uniform(0, 2 * np.pi)
    radii = 20 + 3 * np.cos(2 * angles + phase) + np.cos(3 * angles)
    turned = contours.rotate(radii, angle)
    expected = 20 + 3 * np.cos(2 * (angles - angle) + phase) + np.cos(3 * (angles - angle))
    np.testing.assert_allclose(turned, expected, atol=2e-3)
    np.testing.assert_allclose(contours.rotate(turned, -angle), radii, atol=4e-3)


@given(numbers, st.floats(-4, 4), st.floats(-4, 4))
def test_two_turns_are_one_turn_by_their_sum(number, first, second):
    radii = smooth_radii(number, 90, 20)
    np.testing.assert_allclose(
        contours.rotate(contours.rotate(radii, first), second), contours.rotate(radii, first + second), atol=2e-2
    )


@given(numbers, st.integers(16, 90), st.floats(-4, 4), st.integers(-3, 3))
def test_a_full_turn_changes_nothing(number, rays, angle, turns):
    radii = any_radii(number, rays)
    np.testing.assert_allclose(
        contours.rotate(radii, angle + 2 * np.pi * turns), contours.rotate(radii, angle), atol=1e-9
    )


def test_many_contours_turn_together():
    radii = np.stack([smooth_radii(number, 36, 20) for number in range(3)])
    np.testing.assert_array_equal(contours.rotate(radii, 0.3)[1], contours.rotate(radii[1], 0.3))


@given(st.floats(-7, 7), st.integers(16, 400))
def test_taps_of_a_turn_weigh_one_and_their_slopes_cancel(angle, rays):
    whole, weights, slopes = contours.rotation_taps(angle, rays)
    np.testing.assert_allclose([weights.sum(), slopes.sum() / rays], [1, 0], atol=1e-12)
    # Their centre is where the turn leads, in rays: a straight line is turned without bending.
    np.testing.assert_allclose(weights @ (whole + np.arange(4) - 1), angle * rays / (2 * np.pi), atol=1e-9)


# Resampling


def test_resampling_runs_linearly_between_rays_and_round_the_end():
    radii = np.array([[0.0, 4, 8, 2], [1, 1, 1, 1]])
    np.testing.assert_allclose(contours.resample(radii, 8), [[0, 2, 4, 6, 8, 5, 2, 1], [1] * 8])
    np.testing.assert_allclose(contours.resample(radii[0], 2), [0, 8])


@given(numbers, st.integers(16, 90), st.integers(1, 5))
def test_resampling_to_a_multiple_and_back_changes_nothing(number, rays, factor):
    radii = any_radii(number, rays)
    np.testing.assert_array_equal(contours.resample(radii, rays), radii)
    np.testing.assert_array_equal(contours.resample(contours.resample(radii, factor * rays), rays), radii)


@given(numbers, st.integers(16, 90), st.integers(16, 90))
def test_resampling_what_is_infinite_gives_infinity_beside_it_and_nothing_else(number, given, rays):
    rng = np.random.default_rng(number)
    unknown = rng.random(given) < 0.3
    values = np.where(unknown, np.inf, rng.uniform(1, 5, given))
    resampled = contours.resample(values, rays)
    places = np.arange(rays) * given
    beside = unknown[places // rays] | (unknown[-(-places // rays) % given])
    np.testing.assert_array_equal(np.isinf(resampled), beside)
    assert not np.isnan(resampled).any()


@given(st.integers(0, 2**32 - 1), st.sampled_from([16, 64, 360]), st.floats(1, 300))
@settings(max_examples=30, deadline=None)
def test_painted_contours_fill_what_their_masks_do(number, rays, size):
    rng = np.random.default_rng(number)
    seeds, radii = rng.integers(-10, 60, (3, 2)), size * rng.uniform(0.2, 1, (3, rays))
    labels, numbers = np.zeros((50, 55), np.uint32), np.array([4, 2, 9], np.uint32)
    painted = contours.paint(labels, numbers, seeds, radii)
    expected, count = np.zeros_like(labels), 0
    for name, seed, outline in zip(numbers, seeds, radii, strict=True):
        mask = contours.to_mask(seed, outline, labels.shape)
        expected[mask], count = name, count + mask.sum()
    assert np.array_equal(labels, expected) and painted == count
