from __future__ import annotations

import doctest
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump_paper.regions import expansion, refinement
from declump_paper.regions.expansion import alpha_expansion, expand, potts_energy
from declump_paper.regions.refinement import refine, superpixels


def random_graph(rng, nodes, classes, *, density=0.6, strength=6):
    pairs = np.array(list(itertools.combinations(range(nodes), 2)), np.int64).reshape(-1, 2)
    edges = pairs[rng.random(len(pairs)) < density]
    return rng.integers(0, 10, (nodes, classes)), edges, rng.integers(0, strength, len(edges))


def min_energy(unary, edges, weights):
    labellings = itertools.product(range(unary.shape[1]), repeat=len(unary))
    return min(potts_energy(unary, edges, weights, np.array(labels)) for labels in labellings)


def dice(mask, truth):
    return 2 * (mask & truth).sum() / (mask.sum() + truth.sum())


def discs(size=128):
    """Classes of a cell with a nucleus, and its image with background 200, cytoplasm 150, nucleus 60."""
    rows, columns = np.indices((size, size))
    distance = np.hypot(rows - 0.52 * size, columns - 0.48 * size)
    classes = (distance < 0.35 * size).astype(int) + (distance < 0.1 * size)
    return classes, np.array([200, 150, 60], np.uint8)[classes]


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=0))
    return powers / powers.sum(axis=0)


def noisy_probabilities(classes, rng, noise=1.5):
    scores = 2.0 * (np.arange(3)[:, None, None] == classes)
    return softmax(scores + noise * rng.normal(size=scores.shape))


# Alpha-expansion.


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from([0.3, 0.7, 1.0]))
def test_two_labels_reach_the_least_energy(seed, nodes, density):
    unary, edges, weights = random_graph(np.random.default_rng(seed), nodes, 2, density=density)
    labels = alpha_expansion(unary, edges, weights)
    assert potts_energy(unary, edges, weights, labels) == min_energy(unary, edges, weights)


def test_two_labels_reach_the_least_energy_of_real_costs():
    rng = np.random.default_rng(1)
    for _ in range(20):
        _, edges, _ = random_graph(rng, 8, 2)
        unary, weights = rng.normal(scale=1e3, size=(8, 2)), 1e3 * rng.random(len(edges))
        chosen = alpha_expansion(unary, edges, weights)
        energies = [
            unary[np.arange(8), labels].sum() + weights[labels[edges[:, 0]] != labels[edges[:, 1]]].sum()
            for labels in (chosen, *map(np.array, itertools.product(range(2), repeat=8)))
        ]
        assert energies[0] <= min(energies) + 1e-4


def test_three_labels_stay_within_the_bound_and_mostly_reach_the_least_energy():
    rng = np.random.default_rng(2)
    reached = 0
    for trial in range(60):
        unary, edges, weights = random_graph(rng, 4 + trial % 3, 3, strength=4)
        energy = potts_energy(unary, edges, weights, alpha_expansion(unary, edges, weights))
        least = min_energy(unary, edges, weights)
        assert least <= energy <= 2 * least
        reached += energy == least
    assert reached >= 54


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_a_move_is_the_best_of_its_kind_and_never_raises_the_energy(seed):
    rng = np.random.default_rng(seed)
    unary, edges, weights = random_graph(rng, 6, 4)
    labels = rng.integers(0, 4, 6)
    for alpha in (0, 1, 2, 3, 0, 1):
        offers = itertools.product([False, True], repeat=6)
        best = min(potts_energy(unary, edges, weights, np.where(offer, alpha, labels)) for offer in offers)
        moved = expand(unary, edges, weights, labels, alpha)
        assert potts_energy(unary, edges, weights, moved) == best <= potts_energy(unary, edges, weights, labels)
        assert np.isin(moved[moved != labels], alpha).all()
        labels = moved


def test_no_move_improves_the_result():
    rng = np.random.default_rng(3)
    unary, edges, weights = random_graph(rng, 60, 5, density=0.1)
    labels = alpha_expansion(unary, edges, weights)
    energy = potts_energy(unary, edges, weights, labels)
    assert energy < potts_energy(unary, edges, weights, unary.argmin(axis=1))
    for alpha in range(5):
        assert potts_energy(unary, edges, weights, expand(unary, edges, weights, labels, alpha)) >= energy


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12])
def test_the_unit_of_the_costs_does_not_matter(scale):
    unary, edges, weights = random_graph(np.random.default_rng(4), 40, 3, density=0.1)
    np.testing.assert_array_equal(
        alpha_expansion(scale * unary, edges, scale * weights), alpha_expansion(unary, edges, weights)
    )


def test_graphs_without_edges_or_choice():
    assert alpha_expansion([[3.0, 1.0, 2.0], [0.0, 0.0, 0.0]], np.zeros((0, 2)), []).tolist() == [1, 0]
    assert alpha_expansion([[5.0], [7.0]], [[0, 1]], [2.0]).tolist() == [0, 0]
    assert alpha_expansion(np.zeros((2, 3)), [[0, 1]], [0.0]).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("unary", "edges", "weights", "message"),
    [
        (np.zeros(3), np.zeros((0, 2)), [], "unary costs are an"),
        (np.zeros((0, 2)), np.zeros((0, 2)), [], "unary costs are an"),
        (np.zeros((2, 2)), [[0, 1, 1]], [1.0], "edges are an"),
        (np.zeros((2, 2)), [[0, 1]], [1.0, 2.0], "one weight"),
        (np.zeros((2, 2)), [[0, 1]], [-1.0], "not negative"),
        (np.full((2, 2), np.inf), [[0, 1]], [1.0], "finite"),
        (np.zeros((2, 2)), [[0, 2]], [1.0], "different nodes"),
        (np.zeros((2, 2)), [[1, 1]], [1.0], "different nodes"),
    ],
)
def test_what_is_no_graph_is_refused(unary, edges, weights, message):
    with pytest.raises(ValueError, match=message):
        alpha_expansion(unary, edges, weights)


# Refinement.


@pytest.mark.parametrize("colour", [False, True])
def test_noisy_probabilities_become_clean(colour):
    rng = np.random.default_rng(5)
    classes, image = discs()
    image = np.clip(image + rng.normal(0, 5, image.shape), 0, 255).astype(np.uint8)
    probabilities = noisy_probabilities(classes, rng)
    refined = refine(probabilities, np.stack([image] * 3, axis=-1) if colour else image)
    assert refined.dtype == np.uint8
    for index in range(3):
        before = dice(probabilities.argmax(axis=0) == index, classes == index)
        after = dice(refined == index, classes == index)
        assert before < 0.9 < 0.97 < after


def test_a_weaker_network_outline_snaps_to_the_edge_of_the_image():
    classes, image = discs()
    shifted = np.roll(classes, 2, axis=1)
    probabilities = softmax(1.0 * (np.arange(3)[:, None, None] == shifted))
    refined = refine(probabilities, image)
    assert dice(refined > 0, classes > 0) > dice(shifted > 0, classes > 0)


@pytest.mark.parametrize("area", [1, 40])
@pytest.mark.parametrize("flat", [False, True])
def test_without_smoothness_every_pixel_keeps_its_likeliest_class(area, flat):
    classes, image = discs(64)
    probabilities = noisy_probabilities(classes, np.random.default_rng(6))
    image = np.full_like(image, 128) if flat else image
    labels = refine(probabilities, image, smoothness=0, superpixel_area=area)
    np.testing.assert_array_equal(labels, probabilities.argmax(axis=0))


def test_certain_probabilities_in_an_even_image_are_kept_and_speckles_are_not():
    classes, image = discs()
    certain = softmax(8.0 * (np.arange(3)[:, None, None] == classes))
    even = np.full(image.shape, 0.1)
    assert np.mean(refine(certain, even) == classes) > 0.99
    speckled = certain.copy()
    speckled[:, 5::40, 5::40] = certain[::-1, 5::40, 5::40]
    np.testing.assert_array_equal(refine(speckled, even), refine(certain, even))


def test_thin_structures_survive_where_the_image_shows_them():
    classes = np.zeros((60, 120), int)
    classes[29:31, 10:110] = 1
    image = np.where(classes == 1, 40, 210).astype(np.uint8)
    probabilities = softmax(2.0 * (np.arange(2)[:, None, None] == classes))
    np.testing.assert_array_equal(refine(probabilities, image), classes)
    even = np.full_like(image, 128)
    assert refine(probabilities, even).sum() < classes.sum() / 2


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e5])
def test_an_image_without_contrast_has_none_by_rounding(value):
    classes, _ = discs(64)
    probabilities = noisy_probabilities(classes, np.random.default_rng(10))
    expected = refine(probabilities, np.zeros((64, 64)))
    np.testing.assert_array_equal(refine(probabilities, np.full((64, 64), value)), expected)


def test_brightness_and_contrast_of_the_image_do_not_matter():
    rng = np.random.default_rng(7)
    classes, image = discs(64)
    probabilities = noisy_probabilities(classes, rng)
    image = image.astype(np.float64) + np.round(rng.normal(0, 5, image.shape))
    np.testing.assert_array_equal(refine(probabilities, image), refine(probabilities, image * 4 - 256))


def test_the_same_input_gives_the_same_labels_and_stays_untouched():
    rng = np.random.default_rng(8)
    classes, image = discs(64)
    probabilities = noisy_probabilities(classes, rng).astype(np.float32)
    given_image, given_probabilities = image.copy(), probabilities.copy()
    np.testing.assert_array_equal(refine(probabilities, image), refine(probabilities, image))
    np.testing.assert_array_equal(image, given_image)
    np.testing.assert_array_equal(probabilities, given_probabilities)


@pytest.mark.parametrize("area", [1.0, 30.0, 60.0])
def test_superpixels_have_about_the_area_asked_for(area):
    _, image = discs()
    patches = superpixels(image[..., None].astype(np.float32), area)
    assert patches.min() == 0
    assert 0.6 * area <= image.size / (patches.max() + 1) <= 1.4 * area


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (3, 2), (7, 200)])
@pytest.mark.parametrize("area", [1, 40])
@pytest.mark.parametrize("classes", [1, 3])
def test_small_and_narrow_images(shape, area, classes):
    rng = np.random.default_rng(9)
    probabilities = softmax(rng.normal(size=(classes, *shape)))
    labels = refine(probabilities, rng.integers(0, 256, shape), superpixel_area=area)
    assert labels.shape == shape
    assert labels.max() < classes
    np.testing.assert_array_equal(
        refine(probabilities, np.zeros(shape), smoothness=0, superpixel_area=area), probabilities.argmax(axis=0)
    )


def test_zero_probabilities_cost_much_but_not_everything():
    foreground = np.ones((30, 30))
    foreground[15, 15] = 0
    labels = refine(np.stack([1 - foreground, foreground]), np.full((30, 30), 9, np.uint8))
    assert (labels == 1).all()
    assert (refine(np.zeros((3, 20, 20)), np.zeros((20, 20))) == 0).all()


@pytest.mark.parametrize(
    ("probabilities", "image", "options", "message"),
    [
        (np.ones((4, 4)), np.ones((4, 4)), {}, "probabilities are a"),
        (np.ones((0, 4, 4)), np.ones((4, 4)), {}, "probabilities are a"),
        (np.ones((257, 2, 2)), np.ones((2, 2)), {}, "1 to 256 classes"),
        (np.ones((3, 4, 4)), np.ones((4, 5)), {}, "the image is"),
        (np.ones((3, 4, 4)), np.ones((4, 4, 4)), {}, "the image is"),
        (np.full((3, 4, 4), np.nan), np.ones((4, 4)), {}, "finite"),
        (np.full((3, 4, 4), -0.1), np.ones((4, 4)), {}, "not negative"),
        (np.ones((3, 4, 4)), np.full((4, 4), np.inf), {}, "finite"),
        (np.ones((3, 4, 4)), np.ones((4, 4)), {"smoothness": -1}, "smoothness"),
        (np.ones((3, 4, 4)), np.ones((4, 4)), {"superpixel_area": 0.5}, "superpixel_area"),
        (np.ones((3, 4, 4)), np.ones((4, 4)), {"superpixel_area": float("nan")}, "superpixel_area"),
    ],
)
def test_what_cannot_be_refined_is_refused_in_one_sentence(probabilities, image, options, message):
    with pytest.raises(ValueError, match=message) as refusal:
        refine(probabilities, image, **options)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("module", [expansion, refinement])
def test_docstring_examples_hold(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
