from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump.datasets import AnnotatedImage
from declump.shapes import contours
from declump.shapes.prior import ShapePrior, add_turned_copies
from declump.training.prior import collect_clumps, learn_prior
from declump_paper.importance import Importance, Step, held_out_importance, learn_importance
from declump_paper.importance.held_out import energy_of_new_shapes, held_out_energy
from declump_paper.importance.printed import Training
from declump_paper.importance.statistics import WeightedShapes
from declump_paper.importance.tries import Energies
from support.annotated_smears import annotated

RAYS = 48
HOW = {"rays": RAYS, "copies": False, "reach": False}
PLAIN = {"copies": False, "reach": False, "modes": None}


@pytest.fixture(scope="module")
def smears() -> list[AnnotatedImage]:
    return [annotated(number, side=200, radius=20, overlap=0.4, clumps=None) for number in range(3)]


@pytest.fixture(scope="module")
def training(smears) -> Training:
    return Training(collect_clumps(smears, rays=RAYS), "paper", copies=False, reach=False, modes=None)


@pytest.fixture(scope="module")
def learnt(smears) -> Importance:
    return learn_importance(smears, setting="paper", step=2.0, tries=3, cycles=2, **HOW)


# Moving mean and covariance


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(16, 40), st.booleans(), st.floats(0.01, 50))
def test_moved_statistics_equal_recomputed_ones(number, count, rays, copies, largest):
    rng = np.random.default_rng(number)
    shapes, weights = rng.uniform(5, 30, (count, rays)), 1 + rng.uniform(0, largest, count)
    examples = add_turned_copies(shapes) if copies else shapes
    expected = ShapePrior.fit(examples, weights=np.tile(weights, len(examples) // count))
    moved = WeightedShapes(shapes, copies=copies).prior(weights)
    np.testing.assert_allclose(moved.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(moved.variances, expected.variances, rtol=1e-8)
    np.testing.assert_allclose(moved.modes.T @ moved.modes, np.eye(moved.variances.size), atol=1e-9)
    covariance = (prior.modes * prior.variances @ prior.modes.T for prior in (moved, expected))
    # Modes of equal variance may be turned within their plane, unless the last of them is on the border of 99.5 %.
    if moved.variances[-1] > (1 + 1e-6) * _following(examples, moved, weights):
        np.testing.assert_allclose(next(covariance), next(covariance), atol=1e-6 * expected.variances[0])


def _following(examples: np.ndarray, prior: ShapePrior, weights: np.ndarray) -> float:
    """Variance of the first mode that was left out."""
    whole = ShapePrior.fit(examples, weights=np.tile(weights, len(examples) // len(weights)), explained=1.0)
    left = whole.variances[prior.variances.size :]
    return float(left[0]) if left.size else 0.0


@pytest.mark.parametrize("copies", [False, True])
def test_weights_of_1_are_the_plain_prior_exactly(smears, copies):
    shapes = np.concatenate([clump.radii for image in collect_clumps(smears, rays=RAYS) for clump in image])
    plain = learn_prior(smears, rays=RAYS, copies=copies)
    given_ones = learn_prior(smears, rays=RAYS, copies=copies, weights=np.ones(len(shapes)))
    moved = WeightedShapes(shapes, copies=copies).prior(np.ones(len(shapes)))
    for prior in (given_ones, moved):
        for part in ("mean", "modes", "variances"):
            np.testing.assert_array_equal(getattr(prior, part), getattr(plain, part))
    assert "importance" not in plain.card and given_ones.card["importance"] == "given weights"


def test_copies_share_the_weight_of_their_example(smears):
    count = learn_prior(smears, rays=RAYS).card["whole cells"]
    weights = np.arange(1.0, count + 1)
    shapes = np.concatenate([clump.radii for image in collect_clumps(smears, rays=RAYS) for clump in image])
    expected = sum(weight * add_turned_copies(shape[None]) for weight, shape in zip(weights, shapes, strict=True))
    prior = learn_prior(smears, rays=RAYS, weights=weights, reach=False)
    np.testing.assert_allclose(prior.mean, expected.mean(axis=0) / weights.sum())


# As printed


def test_a_raise_is_accepted_only_if_e_of_its_clump_falls(learnt, training):
    """Replayed one by one: each raise lowers E of its own clump under the weights of that moment."""
    assert learnt.steps, "something is to be accepted on these smears"
    weights = np.ones(training.shapes.count)
    for step in learnt.steps:
        example = training.origins.index((step.image, step.clump, step.cell))
        group = next(number for number, group in enumerate(training.groups) if example in group.examples)
        assert training.energy(group, weights) == step.before
        weights[example] += 2.0
        assert weights[example] == step.weight
        assert training.energy(group, weights) == step.after < step.before
    np.testing.assert_array_equal(weights, learnt.weights)


def test_weights_only_grow_by_whole_steps_and_within_the_bounds(learnt):
    raises = (learnt.weights - 1) / 2.0
    np.testing.assert_array_equal(raises, np.round(raises))
    assert raises.min() >= 0 and raises.max() <= 3 * 2 and raises.sum() == len(learnt.steps)
    assert learnt.cycles <= 2 and {step.cycle for step in learnt.steps} <= {1, 2}
    assert (learnt.method, learnt.in_covariance) == ("printed", False)


def test_it_ends_when_no_raise_helps_any_more(smears, tmp_path):
    """Of the mean shape alone, without modes, steps that hardly move it leave E as it is sooner or later."""
    images = smears[:1]
    how = {"setting": "paper", "step": 1e-9, "tries": 1, "cycles": 30, "modes": 0, "state": tmp_path / "state", **HOW}
    ended, again = learn_importance(images, **how), learn_importance(images, **how)
    assert ended.ended == again.ended == "nothing improves" and ended.cycles == again.cycles < 30
    training = Training(collect_clumps(images, rays=RAYS), "paper", copies=False, reach=False, modes=0)
    for number, group in enumerate(training.groups):
        energy = training.energy(number, ended.weights)
        for example in group.examples:
            raised = ended.weights.copy()
            raised[example] += 1e-9
            assert training.energy(number, raised) >= energy


def test_without_a_bound_it_goes_on_until_no_raise_helps(smears):
    how = {"setting": "paper", "step": 1e-9, "tries": 1, "modes": 0, **HOW}
    bounded, endless = (learn_importance(smears[:1], cycles=cycles, **how) for cycles in (30, None))
    np.testing.assert_array_equal(endless.weights, bounded.weights)
    assert endless.ended == "nothing improves"
    assert endless.options["cycles at most"] is None


def test_e_of_an_image_is_that_of_all_its_clumps(smears, training):
    by_image = Training(collect_clumps(smears, rays=RAYS), "paper", copies=False, reach=False, modes=None, unit="image")
    assert len(by_image.groups) == len(smears)
    weights = np.ones(training.shapes.count)
    names = [training.origins[group.examples[0]][0] if group.examples else None for group in training.groups]
    for number, image in enumerate(smears):
        own = sum(training.energy(group, weights) for group, name in enumerate(names) if name == image.name)
        # Clumps without a whole cell have no example to tell their image by.
        assert own <= by_image.energy(number, weights)
        if all(name is not None for name in names):
            assert own == by_image.energy(number, weights)


def test_raises_by_image_lower_e_of_the_image(smears):
    found = learn_importance(smears, setting="paper", step=2.0, tries=2, cycles=1, unit="image", **HOW)
    training = Training(collect_clumps(smears, rays=RAYS), "paper", copies=False, reach=False, modes=None, unit="image")
    names, weights = [image.name for image in smears], np.ones(training.shapes.count)
    assert found.steps and found.options["E of"] == "image"
    for step in found.steps:
        assert training.energy(names.index(step.image), weights) == step.before
        weights[training.origins.index((step.image, step.clump, step.cell))] += 2.0
        assert training.energy(names.index(step.image), weights) == step.after < step.before


def test_found_clumps_take_the_place_of_the_true_ones(smears):
    known = collect_clumps(smears, rays=RAYS)
    same = Training(known, "paper", masks=[image.clump for image in smears], **PLAIN)
    true = Training(known, "paper", **PLAIN)
    ones = np.ones(true.shapes.count)
    assert [group.examples for group in same.groups] == [group.examples for group in true.groups]
    assert [same.energy(number, ones) for number in range(len(same.groups))] == [
        true.energy(number, ones) for number in range(len(true.groups))
    ]
    nothing = [np.zeros_like(image.clump) for image in smears]
    nothing[0] = smears[0].cells[0]
    partly = Training(known, "paper", masks=nothing, **PLAIN)
    kept = {example for group in partly.groups for example in group.examples}
    assert kept < set(range(true.shapes.count)) and partly.reached == len(kept)
    found = learn_importance(smears, setting="paper", step=2.0, tries=2, cycles=1, masks=nothing, **HOW)
    others = sorted(set(range(true.shapes.count)) - kept)
    assert found.options["clumps"] == "found" and np.all(found.weights[others] == 1)


def test_units_and_masks_that_do_not_fit_are_refused(smears):
    with pytest.raises(ValueError, match="'clump' or an 'image'"):
        learn_importance(smears, unit="slide", **HOW)
    with pytest.raises(ValueError, match="one mask an image"):
        learn_importance(smears, masks=[smears[0].clump], **HOW)


def test_workers_do_not_change_the_outcome(smears, learnt):
    by_two = learn_importance(smears, setting="paper", step=2.0, tries=3, cycles=2, workers=2, **HOW)
    assert by_two.weights.tobytes() == learnt.weights.tobytes()
    assert (by_two.steps, by_two.cycles, by_two.ended) == (learnt.steps, learnt.cycles, learnt.ended)


class Interrupted(Exception):
    """Stands for Ctrl-C."""


@pytest.mark.parametrize("after", [1, 4, 7])
def test_an_interrupted_learning_goes_on_to_the_same_end(smears, learnt, tmp_path, after):
    state, told, again = tmp_path / "deep" / "state.json", [], []

    def interrupt(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == after:
            raise Interrupted

    how = {"setting": "paper", "step": 2.0, "tries": 3, "cycles": 2, "state": state, **HOW}
    with pytest.raises(Interrupted):
        learn_importance(smears, progress=interrupt, **how)
    assert state.exists() and [path.name for path in state.parent.iterdir()] == ["state.json"]
    resumed = learn_importance(smears, progress=lambda *pair: again.append(pair), log=(log := []).append, **how)
    assert resumed.weights.tobytes() == learnt.weights.tobytes()
    assert resumed.steps == learnt.steps == tuple(log)
    assert told[-1] < again[0] and all(done <= total for done, total in told + again)
    finished = learn_importance(smears, **how)
    assert (finished.steps, finished.ended, finished.cycles) == (learnt.steps, learnt.ended, learnt.cycles)


def test_a_state_of_something_else_is_refused(smears, tmp_path):
    state = tmp_path / "state.json"
    learn_importance(smears[:1], setting="paper", cycles=1, state=state, **HOW)
    for images, options in ((smears[:2], {}), (smears[:1], {"step": 3.0}), (smears[:1], {"setting": "joint"})):
        with pytest.raises(ValueError, match="other images or with other options"):
            learn_importance(images, state=state, **{"setting": "paper", "cycles": 1, **HOW, **options})
    for text in ("no JSON", json.dumps({"origin": 1}), json.dumps([1])):
        state.write_text(text)
        with pytest.raises(ValueError, match="not the state"):
            learn_importance(smears[:1], setting="paper", cycles=1, state=state, **HOW)


def test_orders_follow_from_the_seed(training):
    orders = [training.order(seed, cycle) for seed, cycle in ((0, 0), (0, 0), (1, 0), (0, 1))]
    assert orders[0] == orders[1] and orders[0] != orders[2] and orders[0] != orders[3]
    for order in orders:
        assert sorted(example for _, examples in order for example in examples) == list(range(training.shapes.count))
        assert all(example in training.groups[group].examples for group, examples in order for example in examples)


@pytest.mark.parametrize("workers", [1, 3])
def test_energies_are_computed_once_and_forgotten_when_told(workers):
    calls = []

    def compute(task):
        calls.append(task)
        return 10 * task[0]

    tasks = [(number, None) for number in range(8)]
    with Energies(compute, workers) as energies:
        assert [energies.energy(task, tasks[place:]) for place, task in enumerate(tasks)] == [10 * n for n in range(8)]
        assert sorted(calls) == tasks
        energies.forget(but={(0, None): 7})
        assert energies.energy((0, None), []) == 7
        assert energies.energy((1, None), []) == 10 and calls.count((1, None)) == 2


@pytest.mark.parametrize("options", [{"step": 0}, {"step": np.nan}, {"tries": 0}, {"cycles": 0}, {"workers": 0}])
def test_options_out_of_range_are_refused(smears, options):
    with pytest.raises(ValueError, match="step is a number > 0"):
        learn_importance(smears[:1], **HOW, **options)


# By shapes that are left out


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 4))
def test_the_gradient_of_the_held_out_energy_is_that_of_differences(number, copies, size):
    rng = np.random.default_rng(number)
    shapes, owners = rng.normal(size=(copies, 7, size)), np.array([0, 0, 1, 1, 1, 2, 2])
    logarithms, direction = rng.normal(size=7), rng.normal(size=7)
    _, gradient = held_out_energy(logarithms, shapes, owners, 0.5)
    ahead, behind = (held_out_energy(logarithms + sign * 1e-5 * direction, shapes, owners, 0.5)[0] for sign in (1, -1))
    np.testing.assert_allclose(gradient @ direction, (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-5)


def test_the_held_out_energy_is_that_of_normal_distributions():
    """Written out for one dimension and equal weights; logarithms cost their square in units of the spread."""
    values, owners = np.array([0.0, 1.0, 3.0, 4.0]), np.array([0, 0, 1, 1])
    expected = 0.0
    for held, left in (((0.0, 1.0), (3.0, 4.0)), ((3.0, 4.0), (0.0, 1.0))):
        mean, variance = np.mean(left), (2 * np.var(left) + 1) / 3
        expected += sum((value - mean) ** 2 / variance + np.log(variance) for value in held) / 2
    energy, _ = held_out_energy(np.zeros(4), values[None, :, None], owners, 1.0)
    assert energy == pytest.approx(expected)
    doubled, _ = held_out_energy(np.full(4, np.log(2.0)), values[None, :, None], owners, 0.5)
    assert doubled == pytest.approx(expected + 4 * np.log(2.0) ** 2 / (2 * 0.5**2)), "only ratios matter otherwise"


@pytest.mark.parametrize("copies", [False, True])
def test_shapes_like_the_heavy_examples_are_better_foretold(copies):
    angles = 2 * np.pi * np.arange(24) / 24
    rng = np.random.default_rng(5)
    small, large = (size + rng.normal(size=(6, 1)) * np.cos(2 * angles) + rng.normal(size=(6, 1)) for size in (10, 20))
    shapes, heavy = np.concatenate([small, large]), np.repeat([3.0, 1.0], 6)
    even, uneven = (energy_of_new_shapes(small, shapes, part, copies=copies) for part in (np.ones(12), heavy))
    assert uneven < even


def test_held_out_weights_do_not_change_and_enter_the_covariance(smears):
    found = held_out_importance(smears, rays=RAYS, spread=1.0)
    again = held_out_importance(smears, rays=RAYS, spread=1.0)
    assert found.weights.tobytes() == again.weights.tobytes()
    assert found.weights.mean() == pytest.approx(1) and found.weights.std() > 0.01
    shapes = np.concatenate([clump.radii for image in collect_clumps(smears, rays=RAYS) for clump in image])
    prior = learn_prior(smears, rays=RAYS, **found.to_weights(), copies=False, reach=False)
    mean = found.weights @ shapes / found.weights.sum()
    covariance = (found.weights[:, None] * (shapes - mean)).T @ (shapes - mean) / found.weights.sum()
    np.testing.assert_allclose(prior.mean, mean)
    np.testing.assert_allclose(covariance @ prior.modes, prior.modes * prior.variances, atol=1e-8)
    assert prior.card["importance"]["enters"] == "mean and covariance"


def test_leaving_out_needs_two_clumps():
    cells = contours.to_mask((20, 22), np.full(RAYS, 10.0), (40, 44))[None]
    empty = np.zeros((40, 44), dtype=np.uint8)
    one = AnnotatedImage("one", empty, cells, empty.astype(np.int32), np.array([[20.0, 22.0]]))
    with pytest.raises(ValueError, match="at least two"):
        held_out_importance([one], rays=RAYS)
    with pytest.raises(ValueError, match="spread"):
        held_out_importance([one], rays=RAYS, spread=0)


# What is learnt


def test_a_prior_tells_of_its_importance(smears, learnt, tmp_path):
    prior = learn_prior(smears, **learnt.to_weights(), **HOW)
    prior.save(tmp_path / "prior.npz")
    card = ShapePrior.load(tmp_path / "prior.npz").card["importance"]
    assert card == learnt.card and card["accepted steps"] == len(learnt.steps) and card["step"] == 2.0
    by_hand = ShapePrior.fit(
        np.concatenate([clump.radii for image in collect_clumps(smears, rays=RAYS) for clump in image]),
        weights=learnt.weights,
    )
    np.testing.assert_array_equal(prior.mean, by_hand.mean)


def test_importance_of_other_images_is_refused(smears, learnt):
    with pytest.raises(ValueError, match=f"whole cells, got {learnt.weights.size}"):
        learn_prior(smears[:1], **learnt.to_weights(), **HOW)
    for weights in ([-1.0, 2.0], [np.nan], [[1.0]]):
        with pytest.raises(ValueError, match="finite numbers >= 0"):
            Importance(np.array(weights), "printed", False, (), 1, "bound", {})
    assert Step(1, "a", 0, 0, 2.0, 5, 4) == Step(1, "a", 0, 0, 2.0, 5, 4)
