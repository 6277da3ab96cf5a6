from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump.shapes import contours
from declump.shapes.examples import ShapeExamples
from declump.shapes.prior import ShapePrior, add_turned_copies
from declump.shapes.reach import ReachModel


def examples(count: int = 12, rays: int = 36, number: int = 0) -> np.ndarray:
    """Radii of smooth shapes with three ways to vary, and a little noise in all others."""
    rng = np.random.default_rng(number)
    angles = 2 * np.pi * np.arange(rays) / rays
    waves = np.stack([np.ones(rays), np.cos(2 * angles), np.sin(3 * angles)])
    return 20 + rng.normal(size=(count, 3)) * (2.0, 1.0, 0.5) @ waves + 0.01 * rng.normal(size=(count, rays))


def prior(**changes) -> ShapePrior:
    return replace(ShapePrior.fit(examples(), card={"data": ["made", "up"], "cells": 12}), **changes)


def reach() -> ReachModel:
    return ReachModel(np.random.default_rng(1).normal(size=27), 0.1, 0.2)


# Learning


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(16, 30), st.booleans())
def test_mean_and_covariance_are_those_of_equations_6_and_7(number, count, rays, weighted):
    rng = np.random.default_rng(number)
    radii = rng.uniform(5, 30, (count, rays))
    weights = rng.uniform(0, 3, count) + 1e-3 if weighted else None
    fitted = ShapePrior.fit(radii, weights=weights, explained=1.0)

    mean, total = np.zeros(rays), 0.0
    for index in range(count):
        weight = weights[index] if weighted else 1.0
        mean, total = mean + weight * radii[index], total + weight
    mean /= total
    covariance = np.zeros((rays, rays))
    for index in range(count):
        covariance += np.outer(radii[index] - mean, radii[index] - mean) / count

    np.testing.assert_allclose(fitted.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(fitted.modes * fitted.variances @ fitted.modes.T, covariance, atol=1e-9)
    np.testing.assert_allclose(covariance @ fitted.modes, fitted.modes * fitted.variances, atol=1e-9)


def test_only_ratios_of_weights_matter():
    weights = np.arange(1.0, 13)
    one, two = (ShapePrior.fit(examples(), weights=factor * weights) for factor in (1, 7))
    np.testing.assert_allclose(one.mean, two.mean)
    np.testing.assert_allclose(one.variances, two.variances)


def test_a_weight_of_zero_takes_an_example_out_of_the_mean_but_not_of_the_covariance():
    radii = np.stack([np.full(16, 10.0), np.full(16, 12.0), np.full(16, 30.0)])
    fitted = ShapePrior.fit(radii, weights=[1, 1, 0])
    np.testing.assert_allclose(fitted.mean, 11)
    np.testing.assert_allclose(fitted.variances, [16 * (1 + 1 + 19**2) / 3])


def test_modes_are_orthonormal_and_sorted_by_variance():
    fitted = ShapePrior.fit(examples())
    np.testing.assert_allclose(fitted.modes.T @ fitted.modes, np.eye(fitted.variances.size), atol=1e-12)
    assert np.all(np.diff(fitted.variances) < 0)


def test_the_sign_of_a_mode_is_settled():
    modes = ShapePrior.fit(examples()).modes
    assert np.all(modes[np.abs(modes).argmax(axis=0), np.arange(modes.shape[1])] > 0)


def orthogonal_examples(variances: list[float]) -> np.ndarray:
    """Pairs of examples 20 +- a v along orthonormal v, so that the variances are exact: a^2 / number of pairs."""
    axes = np.linalg.qr(np.random.default_rng(3).normal(size=(16, 16)))[0]
    steps = np.sqrt(np.array(variances) * len(variances))[:, None] * axes[: len(variances)]
    return np.concatenate([20 + steps, 20 - steps])


@pytest.mark.parametrize(
    ("variances", "expected"),
    [([0.996, 0.004], 1), ([0.99, 0.01], 2), ([0.9, 0.0951, 0.0049], 2), ([0.9, 0.094, 0.004, 0.002], 3)],
)
def test_as_many_modes_as_exceed_the_share_of_variance(variances, expected):
    fitted = ShapePrior.fit(orthogonal_examples(variances))
    assert fitted.modes.shape == (16, expected)
    np.testing.assert_allclose(fitted.variances, variances[:expected], rtol=1e-9)


def test_a_share_that_is_met_but_not_exceeded_needs_one_more_mode():
    radii = np.array([[20.0] * 16, [24.0] * 16, [22.0, 20] * 8, [22.0, 24] * 8])
    variances = ShapePrior.fit(radii, modes=2).variances
    share = float(variances[0] / variances.sum())
    assert ShapePrior.fit(radii, explained=np.nextafter(share, 0)).variances.size == 1
    assert ShapePrior.fit(radii, explained=share).variances.size == 2


def test_a_given_number_of_modes():
    for count in (0, 1, 5):
        fitted = ShapePrior.fit(examples(), modes=count)
        assert fitted.modes.shape == (36, count)
        assert fitted.variances.shape == (count,)


def test_equal_examples_have_no_mode():
    fitted = ShapePrior.fit(np.full((4, 16), 20.0))
    assert fitted.modes.shape == (16, 0)
    np.testing.assert_array_equal(fitted.instance(np.empty((2, 0))), np.full((2, 16), 20.0))


def test_rounding_is_no_mode_of_variation():
    for count in (3, 7, 11):
        assert ShapePrior.fit(np.full((count, 360), 1000.1)).variances.size == 0


def test_examples_cut_by_the_border_stay_out():
    radii, cut = examples(), np.arange(12) % 4 == 1
    weights = np.arange(1.0, 13)
    fitted = ShapePrior.fit(ShapeExamples(radii, cut), weights=weights)
    expected = ShapePrior.fit(radii[~cut], weights=weights[~cut])
    np.testing.assert_array_equal(fitted.mean, expected.mean)
    np.testing.assert_array_equal(fitted.modes, expected.modes)
    np.testing.assert_array_equal(fitted.variances, expected.variances)


@pytest.mark.parametrize(
    ("radii", "options", "message"),
    [
        (np.ones(36), {}, r"\(N, K\)"),
        (np.full((3, 36), np.nan), {}, "finite"),
        (-np.ones((3, 36)), {}, ">= 0"),
        (np.ones((1, 36)), {}, "at least two"),
        (np.empty((0, 36)), {}, "at least two"),
        (ShapeExamples(np.ones((3, 36)), np.array([True, True, False])), {}, "at least two"),
        (np.ones((3, 8)), {}, "16"),
        (np.zeros((3, 36)), {}, "positive"),
        (examples(), {"weights": np.ones(3)}, "weights"),
        (examples(), {"weights": -np.ones(12)}, "weights"),
        (examples(), {"weights": np.full(12, np.nan)}, "weights"),
        (examples(), {"weights": np.zeros(12)}, "weight"),
        (examples(), {"modes": 40}, "40"),
        (examples(), {"modes": -1}, "-1"),
        (examples(), {"explained": 0.0}, "share"),
        (examples(), {"explained": 1.5}, "share"),
    ],
)
def test_bad_examples_and_options_are_refused(radii, options, message):
    with pytest.raises(ValueError, match=message):
        ShapePrior.fit(radii, **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mean": np.ones((36, 1))}, "mean"),
        ({"mean": np.ones(15), "modes": np.ones((15, 3))}, "K >= 16"),
        ({"modes": np.ones((36, 2))}, "modes"),
        ({"variances": np.ones((3, 1))}, "variances"),
        ({"mean": np.full(36, np.nan)}, "finite"),
        ({"modes": np.full((36, 3), np.inf)}, "finite"),
        ({"mean": np.zeros(36)}, "positive"),
        ({"variances": np.zeros(3)}, "positive"),
    ],
)
def test_arrays_that_are_no_prior_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(ShapePrior.fit(examples(), modes=3), **changes)


# Hypotheses


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3))
def test_projection_undoes_instance(coefficients):
    fitted = ShapePrior.fit(examples(), modes=3)
    np.testing.assert_allclose(fitted.project(fitted.instance(coefficients)), coefficients, atol=1e-12)


def test_projection_gives_the_nearest_hypothesis():
    fitted, radii = ShapePrior.fit(examples(), modes=3), examples(number=7)[0]
    nearest = fitted.instance(fitted.project(radii))
    np.testing.assert_allclose((radii - nearest) @ fitted.modes, 0, atol=1e-12)


def test_instance_and_project_take_many_at_once():
    fitted = ShapePrior.fit(examples(), modes=3)
    many = np.random.default_rng(0).normal(size=(4, 5, 3))
    assert fitted.instance(many).shape == (4, 5, 36)
    np.testing.assert_allclose(fitted.instance(many)[2, 3], fitted.mean + fitted.modes @ many[2, 3])
    np.testing.assert_allclose(fitted.project(fitted.instance(many)), many, atol=1e-12)


# Turned and mirrored copies


def test_turned_and_mirrored_copies():
    radii = examples(count=3, rays=36)
    copies = add_turned_copies(radii, turns=12)
    assert copies.shape == (72, 36)
    np.testing.assert_array_equal(copies[:3], radii)
    np.testing.assert_array_equal(copies[6:9], np.roll(radii, 3, axis=1))
    for ray in range(36):
        np.testing.assert_array_equal(copies[3:6, ray], radii[:, -ray % 36])


def test_the_mean_of_turned_and_mirrored_copies_is_near_a_circle_and_its_own_mirror_image():
    radii = examples(count=5, rays=36) + 4 * np.cos(2 * np.pi * np.arange(36) / 36 + 0.7)
    assert np.ptp(radii.mean(axis=0)) > 5
    mean = add_turned_copies(radii).mean(axis=0)
    np.testing.assert_allclose(mean, radii.mean(), atol=0.05)
    np.testing.assert_allclose(mean, np.roll(mean[::-1], 1), atol=1e-9)


def test_every_copy_has_the_area_of_its_shape():
    radii = examples(count=2, rays=50)
    np.testing.assert_allclose(contours.area(add_turned_copies(radii, 7)), np.tile(contours.area(radii), 14))


# Files


@pytest.mark.parametrize("model", [None, reach()])
def test_a_saved_prior_is_read_back_exactly(tmp_path, model):
    written = prior(reach=model)
    written.save(tmp_path / "prior.npz")
    read = ShapePrior.load(tmp_path / "prior.npz")
    for name in ("mean", "modes", "variances"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))
    assert dict(read.card) == {"data": ["made", "up"], "cells": 12}
    if model is None:
        assert read.reach is None
    else:
        np.testing.assert_array_equal(read.reach.weights, model.weights)
        assert (read.reach.intercept, read.reach.spread) == (model.intercept, model.spread)


def test_a_prior_without_modes_is_read_back(tmp_path):
    ShapePrior.fit(examples(), modes=0).save(tmp_path / "prior.npz")
    assert ShapePrior.load(str(tmp_path / "prior.npz")).modes.shape == (36, 0)


def test_the_same_prior_gives_the_same_bytes(tmp_path):
    prior(reach=reach(), card={"a": 1, "b": 2}).save(tmp_path / "one.npz")
    prior(reach=reach(), card={"b": 2, "a": 1}).save(tmp_path / "two.npz")
    ShapePrior.load(tmp_path / "one.npz").save(tmp_path / "three.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "three.npz").read_bytes()


def test_saving_over_a_file_leaves_only_the_new_one(tmp_path):
    prior().save(tmp_path / "prior.npz")
    ShapePrior.fit(examples(rays=50)).save(tmp_path / "prior.npz")
    assert ShapePrior.load(tmp_path / "prior.npz").rays == 50
    assert [path.name for path in tmp_path.iterdir()] == ["prior.npz"]


def test_a_prior_is_plain_arrays_that_numpy_reads_without_pickle(tmp_path):
    prior(reach=reach()).save(tmp_path / "prior.npz")
    with np.load(tmp_path / "prior.npz", allow_pickle=False) as arrays:
        assert sorted(arrays) == ["card", "mean", "modes", "reach", "variances"]
        assert all(array.dtype in (np.float64, np.uint8) for array in arrays.values())


def test_pickled_arrays_are_refused(tmp_path):
    fitted = prior()
    np.savez(tmp_path / "prior.npz", mean=fitted.mean.astype(object), modes=fitted.modes, variances=fitted.variances)
    with pytest.raises(ValueError, match="not a prior that declump wrote"):
        ShapePrior.load(tmp_path / "prior.npz")


@pytest.mark.parametrize("content", [b"", b"hello, this is no prior", b"PK\x03\x04 and then nothing"])
def test_files_that_are_no_archive_are_refused(tmp_path, content):
    (tmp_path / "prior.npz").write_bytes(content)
    with pytest.raises(ValueError, match="not a prior that declump wrote"):
        ShapePrior.load(tmp_path / "prior.npz")


def test_a_single_array_is_refused(tmp_path):
    np.save(tmp_path / "prior.npy", np.ones(36))
    with pytest.raises(ValueError, match="not a prior that declump wrote"):
        ShapePrior.load(tmp_path / "prior.npy")


def test_an_archive_of_other_arrays_is_refused(tmp_path):
    np.savez(tmp_path / "prior.npz", image=np.ones((3, 3)))
    with pytest.raises(ValueError, match="not a prior that declump wrote"):
        ShapePrior.load(tmp_path / "prior.npz")


def test_a_damaged_file_is_read_as_it_was_or_refused(tmp_path):
    written = prior(reach=reach())
    written.save(tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    flipped = [whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :] for place in range(0, len(whole), 23)]
    damaged = [*flipped, *(whole[:end] for end in range(0, len(whole), 97))]
    refused = 0
    for index, content in enumerate(damaged):
        path = tmp_path / f"{index}.npz"
        path.write_bytes(content)
        try:
            np.testing.assert_array_equal(ShapePrior.load(path).mean, written.mean)
        except ValueError as error:
            assert "not a prior that declump wrote" in str(error)
            refused += 1
    assert refused > len(damaged) / 2


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ShapePrior.load(tmp_path / "nowhere.npz")
    with pytest.raises(FileNotFoundError, match="default"):
        ShapePrior.load(str(tmp_path))


def test_the_default_prior_describes_cervical_cells():
    default = ShapePrior.load("default")
    assert default.rays == 360
    assert 3 <= default.variances.size <= 60
    np.testing.assert_allclose(default.modes.T @ default.modes, np.eye(default.variances.size), atol=1e-9)
    assert np.all(np.diff(default.variances) <= 0)
    assert default.mean.min() > 0.9 * default.mean.max(), "turned copies make the mean a circle"
    deviation = np.sqrt(default.variances[0] / 360)
    assert 0.05 < deviation / default.mean.mean() < 0.5
    assert 0 < default.reach.spread < 1
    assert default.card["whole cells"] > 100


def test_shapes_without_rays_are_refused():
    with pytest.raises(ValueError, match="shape examples are"):
        ShapePrior.fit(np.empty((5, 0)))


def test_a_prior_is_read_once_until_its_file_changes(tmp_path, monkeypatch):
    path, model = tmp_path / "prior.npz", prior()
    model.save(path)
    first = ShapePrior.load(path)
    monkeypatch.setattr(np, "load", lambda *_args, **_options: pytest.fail("the file was read again"))
    first.mean[:] = 1  # what was given away is not what is kept
    assert np.array_equal(ShapePrior.load(path).mean, model.mean)
    monkeypatch.undo()
    replace(model, mean=2 * model.mean).save(path)
    assert np.array_equal(ShapePrior.load(path).mean, 2 * model.mean)
