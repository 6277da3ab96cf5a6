from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump import _kernels
from declump._kernels.types import PolarTable
from declump.evolution import energy
from declump.evolution.polar import make_polar_table
from declump.evolution.terms.discrepancy import Discrepancy
from declump.evolution.terms.rays import RayMisfit, expect_nothing
from declump.evolution.terms.term import RadiusDerivatives, SoftOutlines, Term, find_stride
from declump.shapes import contours

numbers = st.integers(0, 2**32 - 1)
REACH = 64
"""Of the polar tables here; no radius and softness below come near it."""


@dataclass(frozen=True)
class Case:
    """A clump, cells in it with parameters, and what is expected of their radii."""

    clump: np.ndarray
    seeds: np.ndarray
    radii: np.ndarray
    basis: np.ndarray
    softness: float
    targets: np.ndarray
    precisions: np.ndarray

    @property
    def table(self) -> PolarTable:
        return make_polar_table(self.radii.shape[1], REACH)

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        return np.ascontiguousarray(self.seeds[:, 0]), np.ascontiguousarray(self.seeds[:, 1])

    def discrepancy(self) -> Discrepancy:
        """The term of the clump, brought up to the outlines."""
        term = Discrepancy(self.clump, self.radii.shape[1])
        term.follow(SoftOutlines(*self.places, self.radii, self.softness, self.table))
        return term

    def ray_misfit(self, tolerances: np.ndarray | float) -> RayMisfit:
        expected = expect_nothing(*self.radii.shape)
        tolerances = np.broadcast_to(tolerances, self.radii.shape)
        return RayMisfit(expected._replace(targets=self.targets, precisions=self.precisions, tolerances=tolerances))

    def compiled_equations(self, *terms: Term) -> tuple[np.ndarray, ...]:
        """Gradient, blocks, pairs and shared blocks of the sum of terms."""
        outlines = SoftOutlines(*self.places, self.radii, self.softness, self.table)
        derivatives = RadiusDerivatives.zeros(self.basis)
        for term in terms:
            term.follow(outlines)
            term.add_by_radius(outlines, derivatives)
        return derivatives.project()


def smooth(rng: np.random.Generator, rays: int, size: float) -> np.ndarray:
    angles = 2 * np.pi * np.arange(rays) / rays
    waves = [rng.normal() * np.cos(order * angles + rng.uniform(0, 6)) / order for order in (2, 3, 5)]
    return size * (1 + 0.15 * np.sum(waves, axis=0)).clip(0.4)


def random_case(number: int, cells: int, rays: int, *, jagged: bool = False, crowded: bool = False) -> Case:
    """Cells anywhere in the image, so also partly outside it, or on top of each other."""
    rng = np.random.default_rng(number)
    shape = tuple(rng.integers(30, 50, 2))
    spread = 0.15 if crowded else 1.0
    seeds = np.stack([rng.integers(0, 1 + int(spread * (extent - 1)), cells) for extent in shape], axis=1)
    radii = np.stack([smooth(rng, rays, rng.uniform(4, 16)) for _ in range(cells)])
    if jagged:
        radii = rng.uniform(0.5, 16, radii.shape)
    clump = np.zeros(shape, dtype=bool)
    for seed, radius in zip(seeds, radii, strict=True):
        clump |= contours.to_mask(seed + rng.integers(-3, 4, 2), rng.uniform(0.7, 1.3) * radius, shape)
    return Case(
        clump,
        seeds,
        radii,
        rng.normal(size=(cells, rays, 4)),
        rng.uniform(1, 4),
        radii + rng.normal(size=radii.shape),
        rng.uniform(0, 0.5, radii.shape) * rng.integers(0, 2),
    )


cases = st.builds(
    random_case, numbers, st.integers(1, 4), st.integers(16, 90), jagged=st.booleans(), crowded=st.booleans()
)


def dense(blocks: np.ndarray, pairs: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """The Hessian (N, P, N, P) that is kept as blocks."""
    cells, parameters, _ = blocks.shape
    hessian = np.zeros((cells, parameters, cells, parameters))
    for cell in range(cells):
        hessian[cell, :, cell] = blocks[cell]
    for (first, second), block in zip(pairs, shared, strict=True):
        hessian[first, :, second] += block
        hessian[second, :, first] += block.T
    return hessian


def assert_close(actual: np.ndarray, expected: np.ndarray, relative: float) -> None:
    """Equal up to a share of the largest entry."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=relative * max(np.abs(expected).max(initial=0), 1.0))


# Poses


def hypothesis_set(rng: np.random.Generator, rays: int) -> tuple[np.ndarray, np.ndarray]:
    return smooth(rng, rays, 12.0), np.stack([smooth(rng, rays, 1.0) for _ in range(3)], axis=1)


@given(numbers, st.integers(16, 90), st.floats(-1, 1), st.floats(-7, 7))
def test_derivatives_of_a_pose_are_those_of_finite_differences(number, rays, log_scale, rotation):
    rng = np.random.default_rng(number)
    mean, modes = hypothesis_set(rng, rays)
    at = np.array([*rng.normal(size=3), log_scale, rotation])
    radii, basis = energy.pose(mean, modes, at[:3], at[3], at[4])
    np.testing.assert_allclose(radii, np.exp(log_scale) * contours.rotate(mean + modes @ at[:3], rotation))
    step = 1e-6
    for index, change in enumerate(step * np.eye(5)):
        ahead, behind = (energy.pose(mean, modes, to[:3], to[3], to[4])[0] for to in (at + change, at - change))
        # The second derivative of the interpolation jumps at whole rays: hence the tolerance.
        np.testing.assert_allclose(basis[:, index], (ahead - behind) / (2 * step), atol=2e-3)


@given(numbers, st.integers(16, 90), st.integers(0, 4), st.floats(-1, 1), st.floats(-20, 20))
def test_the_compiled_pose_is_the_readable_one(number, rays, count, log_scale, rotation):
    rng = np.random.default_rng(number)
    mean, modes, coefficients = smooth(rng, rays, 12.0), rng.normal(size=(rays, count)), rng.normal(size=count)
    radii, basis = np.empty(rays), np.empty((rays, count + 2))
    _kernels.pose(mean, modes, np.ascontiguousarray(modes.T), coefficients, log_scale, rotation, radii, basis)
    expected_radii, expected_basis = energy.pose(mean, modes, coefficients, log_scale, rotation)
    assert_close(radii, expected_radii, 1e-12)
    assert_close(basis, expected_basis, 1e-12)


def test_the_readable_twins_run_without_the_kernels(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a twin is computed by the kernel it is to be held against")

    case, rng = random_case(1, 3, 40), np.random.default_rng(0)
    tolerances = some_tolerances(case, 0)
    for name in _kernels.__all__:
        if callable(getattr(_kernels, name)):
            monkeypatch.setattr(_kernels, name, refuse)
    energy.pose(*hypothesis_set(rng, 40), rng.normal(size=3), 0.1, 0.3)
    energy.hard_discrepancy(case.clump, case.seeds, case.radii)
    energy.soft_discrepancy(case.clump, case.seeds, case.radii, case.softness)
    energy.normal_equations(
        case.clump,
        case.seeds,
        case.radii,
        case.basis,
        case.softness,
        case.targets,
        case.precisions,
        tolerances,
    )


# The soft outline


def test_the_smooth_step_rises_from_zero_to_one():
    depths = np.linspace(-2, 2, 401)
    steps = energy.smooth_step(depths)
    np.testing.assert_allclose(steps[[0, 100, 200, 300, 400]], [0, 0, 0.5, 1, 1])
    assert np.all(np.diff(steps) >= 0)
    np.testing.assert_allclose(steps + steps[::-1], 1)
    np.testing.assert_allclose(energy.smooth_step_slope(depths), np.gradient(steps, depths), atol=0.02)


def test_coverage_of_a_disc_by_its_distance():
    cover = energy.coverages((21, 21), np.array([[10, 10]]), np.full((1, 36), 6.0), 2.0)[0]
    assert cover[10, 10] == 1
    assert cover[10, 14] == 1
    assert cover[10, 15] == pytest.approx(energy.smooth_step(np.array(0.5)))
    assert cover[16, 10] == pytest.approx(0.5)
    assert cover[10, 18] == 0


def test_union_of_two_cells_in_the_soft_discrepancy():
    # One pixel at distance 3 from both seeds, half covered by either: the union covers three quarters of it.
    clump = np.zeros((1, 7), dtype=bool)
    seeds, radii = np.array([[0, 0], [0, 6]]), np.full((2, 16), 3.0)
    assert energy.soft_discrepancy(clump, seeds, radii, 1.0) == pytest.approx(6 + 0.75**2)
    clump[0, 3] = True
    assert energy.soft_discrepancy(clump, seeds, radii, 1.0) == pytest.approx(6 + 0.25**2)


def test_the_soft_discrepancy_becomes_the_hard_one_without_softness():
    # Off the pixel centres, where chord and arc of a sector do not differ.
    case = random_case(3, 2, 90)
    hard = energy.hard_discrepancy(case.clump, case.seeds, case.radii)
    assert energy.soft_discrepancy(case.clump, case.seeds, case.radii, 1e-6) == pytest.approx(hard, abs=3)


def test_ray_misfit_weighs_squared_differences():
    assert energy.ray_misfit(np.array([[5.0, 6]]), np.array([[4.0, 9]]), np.array([[2.0, 0.5]])) == 2 * 1 + 0.5 * 9


def test_the_robust_loss_is_the_square_near_zero_and_bounded_far_away():
    residuals = np.array([-1e-3, 0.0, 2.0, 1e6])
    np.testing.assert_allclose(energy.robust_loss(residuals, 2.0), [1e-6, 0, 2, 4], rtol=1e-6)
    np.testing.assert_array_equal(energy.robust_loss(residuals, np.inf), residuals**2)
    np.testing.assert_array_equal(energy.robust_weights(residuals, np.inf), 1)


@given(st.floats(-50, 50), st.floats(0.1, 20), st.floats(-50, 50))
def test_squares_with_robust_weights_touch_the_loss_and_lie_above_it(at, scale, elsewhere):
    at, elsewhere = np.array([at]), np.array([elsewhere])
    weight, step = energy.robust_weights(at, scale), 1e-5
    slope = (energy.robust_loss(at + step, scale) - energy.robust_loss(at - step, scale)) / (2 * step)
    np.testing.assert_allclose(2 * weight * at, slope, atol=1e-5)
    above = energy.robust_loss(at, scale) + weight * (elsewhere**2 - at**2)
    assert np.all(energy.robust_loss(elsewhere, scale) <= above + 1e-9)


def test_ray_misfit_with_tolerances():
    radii, targets, precisions = np.array([[5.0, 6]]), np.array([[4.0, 9]]), np.array([[2.0, 0.5]])
    assert energy.ray_misfit(radii, targets, precisions, np.array([[np.inf, 3.0]])) == 2 * 1 + 0.5 * 9 / 2


def test_hard_discrepancy_counts_missing_and_surplus_pixels():
    clump = np.zeros((40, 40), dtype=bool)
    clump[5:9, 30:35] = True
    disc = contours.to_mask((20, 15), np.full(36, 8.0), clump.shape)
    assert energy.hard_discrepancy(clump, np.array([[20, 15]]), np.full((1, 36), 8.0)) == 20 + disc.sum()
    twice = np.array([[20, 15], [20, 15]])
    assert energy.hard_discrepancy(clump | disc, twice, np.full((2, 36), 8.0)) == 20


# Derivatives of the discrepancy


def posed_case(number: int) -> tuple[Case, np.ndarray, callable]:
    """A case whose cells are posed hypotheses, their parameters, and the radii as a function of these."""
    rng = np.random.default_rng(number)
    case = random_case(number, int(rng.integers(1, 4)), int(rng.integers(16, 60)))
    mean, modes = hypothesis_set(rng, case.radii.shape[1])
    parameters = rng.normal(size=(len(case.seeds), 5)) * (1, 1, 1, 0.2, 2)

    def posed(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        poses = [energy.pose(mean, modes, own[:3], own[3], own[4]) for own in at]
        return np.stack([radii for radii, _ in poses]), np.stack([basis for _, basis in poses])

    return case, parameters, posed


def residuals(case: Case, radii: np.ndarray) -> np.ndarray:
    """What the energy is the sum of squares of."""
    cover = energy.coverages(case.clump.shape, case.seeds, radii, case.softness)
    pixels = 1 - np.prod(1 - cover, axis=0) - case.clump
    return np.concatenate([pixels.ravel(), (np.sqrt(case.precisions) * (radii - case.targets)).ravel()])


@settings(max_examples=25)
@given(numbers)
def test_gradient_and_hessian_are_those_of_finite_differences(number):
    case, parameters, posed = posed_case(number)
    radii, basis = posed(parameters)
    gradient, hessian = energy.normal_equations(
        case.clump, case.seeds, radii, basis, case.softness, case.targets, case.precisions
    )

    def total(at: np.ndarray) -> float:
        radii, _ = posed(at)
        soft = energy.soft_discrepancy(case.clump, case.seeds, radii, case.softness)
        return soft + energy.ray_misfit(radii, case.targets, case.precisions)

    step = 1e-5
    slopes, columns = np.empty_like(parameters), []
    for index in np.ndindex(*parameters.shape):
        change = np.zeros_like(parameters)
        change[index] = step
        slopes[index] = (total(parameters + change) - total(parameters - change)) / (2 * step)
        ahead, behind = (residuals(case, posed(to)[0]) for to in (parameters + change, parameters - change))
        columns.append((ahead - behind) / (2 * step))
    jacobian = np.stack(columns, axis=1)
    assert_close(gradient, slopes, 1e-4)
    assert_close(hessian.reshape(gradient.size, gradient.size), 2 * jacobian.T @ jacobian, 1e-3)
    assert total(parameters) == pytest.approx(np.sum(residuals(case, radii) ** 2))


def some_tolerances(case: Case, number: int) -> np.ndarray:
    """Tolerances of the rays of a case, some of them infinite."""
    rng = np.random.default_rng(number)
    shape = case.radii.shape
    return np.where(rng.random(shape) < 0.1, np.inf, rng.uniform(0.3, 3, shape))


@settings(max_examples=25)
@given(numbers)
def test_gradient_and_hessian_with_evidence_are_those_of_finite_differences(number):
    case, parameters, posed = posed_case(number)
    tolerances = some_tolerances(case, number)
    radii, basis = posed(parameters)
    precisions = case.precisions + 0.1
    gradient, hessian = energy.normal_equations(
        case.clump, case.seeds, radii, basis, case.softness, case.targets, precisions, tolerances
    )

    def total(at: np.ndarray) -> float:
        radii, _ = posed(at)
        soft = energy.soft_discrepancy(case.clump, case.seeds, radii, case.softness)
        return soft + energy.ray_misfit(radii, case.targets, precisions, tolerances)

    def residuals_of(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        radii, _ = posed(at)
        cover = energy.coverages(case.clump.shape, case.seeds, radii, case.softness)
        return 1 - np.prod(1 - cover, axis=0) - case.clump, radii - case.targets

    union, off = residuals_of(parameters)
    weights = np.concatenate([np.ones(union.size), (precisions * energy.robust_weights(off, tolerances)).ravel()])
    step = 1e-5
    slopes, columns = np.empty_like(parameters), []
    for index in np.ndindex(*parameters.shape):
        change = np.zeros_like(parameters)
        change[index] = step
        slopes[index] = (total(parameters + change) - total(parameters - change)) / (2 * step)
        pairs = zip(residuals_of(parameters + change), residuals_of(parameters - change), strict=True)
        columns.append(np.concatenate([(ahead - behind).ravel() for ahead, behind in pairs]) / (2 * step))
    jacobian = np.stack(columns, axis=1)
    assert_close(gradient, slopes, 1e-4)
    assert_close(hessian.reshape(gradient.size, gradient.size), 2 * jacobian.T @ (weights[:, None] * jacobian), 1e-3)


# Kernels against their twins


@given(cases)
def test_the_compiled_soft_discrepancy_is_the_readable_one_and_leaves_its_buffer_clean(case):
    term = case.discrepancy()
    cover = energy.coverages(case.clump.shape, case.seeds, case.radii, case.softness)
    pixels, left = term.pixels, term.left
    uncovered = np.where(term.depths > 0, 0.0, 1.0)
    uncovered.ravel()[pixels] = left
    np.testing.assert_allclose(uncovered, np.prod(1 - cover, axis=0), rtol=0, atol=1e-12)
    assert np.unique(pixels).size == pixels.size
    expected = energy.soft_discrepancy(case.clump, case.seeds, case.radii, case.softness)
    assert term.soft == pytest.approx(expected, rel=1e-9, abs=1e-9)
    np.testing.assert_array_equal(term.places, -1)


@given(cases, numbers)
def test_a_clump_covered_from_where_the_outlines_were_is_covered_as_anew(case, number):
    term = Discrepancy(case.clump, case.radii.shape[1])
    rng = np.random.default_rng(number)
    for _ in range(3):  # small and large moves, from which each sector is searched
        before = case.radii * rng.uniform(0.2, 1.1, case.radii.shape)
        term.follow(SoftOutlines(*case.places, before, case.softness, case.table))
    term.follow(SoftOutlines(*case.places, case.radii, case.softness, case.table))
    anew = case.discrepancy()
    assert (term.soft, term.different) == (anew.soft, anew.different)
    for name in ("depths", "inner", "covered", "places", "pixels", "left"):
        np.testing.assert_array_equal(getattr(term, name), getattr(anew, name))
    for one, two in zip(term.visits, anew.visits, strict=True):
        np.testing.assert_array_equal(one, two)


@given(cases)
def test_the_compiled_hard_discrepancy_is_the_readable_one(case):
    assert case.discrepancy().count_pixels() == energy.hard_discrepancy(case.clump, case.seeds, case.radii)


@given(cases)
def test_the_compiled_normal_equations_are_the_readable_ones_and_leave_their_buffer_clean(case):
    discrepancy = Discrepancy(case.clump, case.radii.shape[1])
    gradient, blocks, pairs, shared = case.compiled_equations(discrepancy, case.ray_misfit(np.inf))
    expected_gradient, expected_hessian = energy.normal_equations(
        case.clump, case.seeds, case.radii, case.basis, case.softness, case.targets, case.precisions
    )
    assert_close(gradient, expected_gradient, 1e-9)
    assert_close(dense(blocks, pairs, shared), expected_hessian, 1e-9)
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert len({tuple(pair) for pair in pairs}) == len(pairs)
    np.testing.assert_array_equal(discrepancy.places, -1)


@settings(max_examples=25)
@given(numbers, st.integers(1, 4), st.sampled_from([180, 360, 540]))
def test_the_hessian_interpolates_between_rays_and_the_gradient_does_not(number, cells, rays):
    case = random_case(number, cells, rays, crowded=True)
    gradient, blocks, pairs, shared = case.compiled_equations(Discrepancy(case.clump, rays), case.ray_misfit(np.inf))
    stride = rays // 180
    kept, far = case.basis[:, ::stride, None], (np.arange(stride) / stride)[:, None]
    between = ((1 - far) * kept + far * np.roll(kept, -1, axis=1)).reshape(case.basis.shape)
    given_to = case.clump, case.seeds, case.radii
    evidence = case.softness, case.targets, case.precisions, np.inf
    expected_gradient, _ = energy.normal_equations(*given_to, case.basis, *evidence)
    _, expected_hessian = energy.normal_equations(*given_to, between, *evidence)
    assert_close(gradient, expected_gradient, 1e-9)
    assert_close(dense(blocks, pairs, shared), expected_hessian, 1e-9)


@pytest.mark.parametrize(
    ("rays", "stride"), [(1, 1), (90, 1), (180, 1), (359, 1), (360, 2), (361, 1), (720, 4), (721, 1)]
)
def test_the_hessian_knows_rays_two_degrees_apart_where_that_divides_them(rays, stride):
    assert find_stride(rays) == stride


@given(cases, numbers)
def test_the_compiled_normal_equations_with_evidence_are_the_readable_ones(case, number):
    tolerances = some_tolerances(case, number)
    terms = Discrepancy(case.clump, case.radii.shape[1]), case.ray_misfit(tolerances)
    gradient, blocks, pairs, shared = case.compiled_equations(*terms)
    expected_gradient, expected_hessian = energy.normal_equations(
        case.clump,
        case.seeds,
        case.radii,
        case.basis,
        case.softness,
        case.targets,
        case.precisions,
        tolerances,
    )
    assert_close(gradient, expected_gradient, 1e-9)
    assert_close(dense(blocks, pairs, shared), expected_hessian, 1e-9)
    assert np.all(pairs[:, 0] < pairs[:, 1])
    np.testing.assert_array_equal(terms[0].places, -1)
    eigenvalues = np.linalg.eigvalsh(dense(blocks, pairs, shared).reshape(gradient.size, gradient.size))
    assert eigenvalues[0] >= -1e-9 * max(eigenvalues[-1], 1.0)


def test_cells_whose_outlines_do_not_meet_share_no_block():
    clump = np.ones((40, 80), dtype=bool)
    case = Case(
        clump,
        np.array([[20, 15], [20, 30], [20, 65]]),
        np.full((3, 36), 10.0),
        np.ones((3, 36, 2)),
        1.5,
        np.zeros((3, 36)),
        np.zeros((3, 36)),
    )
    _, _, pairs, shared = case.compiled_equations(Discrepancy(clump, 36))
    np.testing.assert_array_equal(pairs, [[0, 1]])
    assert np.all(shared > 0)


# The trust region


@dataclass(frozen=True)
class Model:
    """A quadratic model in blocks, and the same as one matrix."""

    gradient: np.ndarray
    blocks: np.ndarray
    pairs: np.ndarray
    shared: np.ndarray
    free: np.ndarray
    hessian: np.ndarray

    def step(self, radius: float, tolerance: float = 1e-12, damping: float = 0.0) -> tuple[np.ndarray, bool]:
        factors = _kernels.factorise(self.blocks, self.free, damping)
        return _kernels.truncated_conjugate_gradient(
            self.gradient, self.blocks, self.pairs, self.shared, self.free, factors, radius, tolerance, 500
        )

    def solve_cells(self, vector: np.ndarray, damping: float) -> np.ndarray:
        """Solve the damped equations of what is free of every cell by itself."""
        solved = np.zeros_like(vector)
        for cell, free in enumerate(self.free > 0):
            damped = self.blocks[cell][np.ix_(free, free)] + damping * np.eye(free.sum())
            solved[cell, free] = np.linalg.solve(damped, vector[cell, free])
        return solved

    def decrease(self, step: np.ndarray) -> float:
        return _kernels.predicted_decrease(self.gradient, self.blocks, self.pairs, self.shared, step)


def random_model(number: int, cells: int, parameters: int) -> Model:
    """A positive definite model in which some pairs of cells are coupled and some parameters fixed."""
    rng = np.random.default_rng(number)
    size = cells * parameters
    hessian = np.zeros((size, size))
    pairs = [(i, j) for i in range(cells) for j in range(i + 1, cells) if rng.random() < 0.6]
    for members in [(cell,) for cell in range(cells)] + pairs:
        rows = np.zeros((parameters + 1, size))
        for cell in members:
            rows[:, cell * parameters : (cell + 1) * parameters] = rng.normal(size=(parameters + 1, parameters))
        hessian += rows.T @ rows
    hessian += 0.5 * np.eye(size)
    cut = hessian.reshape(cells, parameters, cells, parameters)
    return Model(
        rng.normal(size=(cells, parameters)),
        np.stack([cut[cell, :, cell] for cell in range(cells)]),
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        np.array([cut[i, :, j] for i, j in pairs]).reshape(-1, parameters, parameters),
        (rng.random((cells, parameters)) < 0.8).astype(float),
        hessian,
    )


models = st.builds(random_model, numbers, st.integers(1, 5), st.integers(1, 5))


@given(models)
def test_in_a_large_region_the_step_solves_the_equations_of_the_free_parameters(model):
    step, on_border = model.step(1e6)
    free = model.free.ravel() > 0
    expected = np.zeros(free.size)
    expected[free] = -np.linalg.solve(model.hessian[np.ix_(free, free)], model.gradient.ravel()[free])
    assert_close(step.ravel(), expected, 1e-7)
    assert not on_border


@given(models, st.floats(1e-3, 3), st.floats(0, 10))
def test_the_step_stays_in_its_region_moves_nothing_fixed_and_goes_down(model, radius, damping):
    step, on_border = model.step(radius, 0.1, damping)
    length = np.linalg.norm(step)
    assert length <= radius * (1 + 1e-9)
    if on_border:
        assert length == pytest.approx(radius)
    np.testing.assert_array_equal(step[model.free == 0], 0)
    if np.any(model.gradient * model.free):
        downhill = model.solve_cells(-model.gradient * model.free, damping)
        slope = -np.sum(downhill * model.gradient)
        curvature = downhill.ravel() @ model.hessian @ downhill.ravel()
        cauchy = min(slope / curvature, radius / np.linalg.norm(downhill)) * downhill
        assert model.decrease(step) >= model.decrease(cauchy) * (1 - 1e-9) > 0


@given(models, numbers)
def test_predicted_decrease_is_that_of_the_quadratic_model(model, number):
    step = np.random.default_rng(number).normal(size=model.gradient.shape)
    flat = step.ravel()
    expected = -model.gradient.ravel() @ flat - 0.5 * flat @ model.hessian @ flat
    assert model.decrease(step) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(models, st.floats(0, 10))
def test_factors_are_those_of_what_is_free(model, damping):
    factors = _kernels.factorise(model.blocks, model.free, damping)
    for factor, block, free in zip(factors, model.blocks, model.free > 0, strict=True):
        np.testing.assert_array_equal(np.triu(factor, 1), 0)
        product = factor @ factor.T
        damped = block + damping * np.eye(len(free))
        np.testing.assert_allclose(product[np.ix_(free, free)], damped[np.ix_(free, free)], atol=1e-9)
        np.testing.assert_array_equal(product[~free], np.eye(len(free))[~free])


def test_along_a_direction_without_curvature_the_step_goes_to_the_border():
    pairs, shared = np.empty((0, 2), dtype=np.int64), np.empty((0, 2, 2))
    model = Model(np.array([[3.0, 4.0]]), np.zeros((1, 2, 2)), pairs, shared, np.ones((1, 2)), np.zeros((2, 2)))
    step, on_border = model.step(2.0)
    np.testing.assert_allclose(step, [[-1.2, -1.6]])
    assert on_border


def test_without_a_slope_there_is_no_step():
    model = random_model(0, 2, 3)
    flat = Model(np.zeros((2, 3)), model.blocks, model.pairs, model.shared, model.free, model.hessian)
    step, on_border = flat.step(1.0)
    np.testing.assert_array_equal(step, 0)
    assert not on_border
