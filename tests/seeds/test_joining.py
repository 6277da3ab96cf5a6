from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from declump.seeds.concavity import trace_outlines
from declump.seeds.distance import deepest_places, depths
from declump.seeds.joining import JoiningRule, build_region_graph, find_objects, join_alike, shipped_rule
from declump.seeds.outline import Outline
from declump.seeds.region_graph import PAIR_FEATURES, RegionGraph


def piece_of(number: int) -> np.ndarray:
    """A connected ragged mask."""
    noise = ndimage.gaussian_filter(np.random.default_rng(number).standard_normal((60, 70)), 3)
    labels, _ = ndimage.label(noise > 0, np.ones((3, 3)))
    return np.asarray(labels == np.bincount(labels.ravel())[1:].argmax() + 1)


def outline_of(mask: np.ndarray) -> Outline:
    depth = depths(mask)
    return Outline.of(trace_outlines(mask, deepest_places(depth), depth))


def saying(value: float) -> JoiningRule:
    """A rule that says the same of all."""
    count = len(PAIR_FEATURES)
    zeros = (np.zeros((2, count)), np.zeros((2, 2)), np.zeros((1, 2)))
    return JoiningRule(np.zeros(count), np.ones(count), zeros, (np.zeros(2), np.zeros(2), np.array([value])))


def two_discs(apart: float) -> np.ndarray:
    rows, columns = np.indices((141, 241))
    return (np.hypot(rows - 70, columns - 90) < 40) | (np.hypot(rows - 70, columns - 90 - apart) < 40)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_parts_are_a_division_of_the_piece_and_joining_all_gives_it_back(number):
    mask = piece_of(number)
    graph = build_region_graph(mask)
    labels = graph.labels
    np.testing.assert_array_equal(labels > 0, mask)
    assert set(np.unique(labels)) - {0} == set(range(1, len(graph.parts) + 1))
    areas = np.bincount(labels.ravel())[1:]
    assert [part.area for part in graph.parts.values()] == areas.tolist()
    assert all(part.hull_area >= part.area * (1 - 1e-12) for part in graph.parts.values())
    for first, second in graph.neighbours():
        assert graph.borders[first][second] is graph.borders[second][first]
    while graph.neighbours():
        first, second = graph.neighbours()[-1]
        both = graph.parts[first].area + graph.parts[second].area
        assert graph.parts[graph.join(first, second)].area == both
    joined = graph.labels
    np.testing.assert_array_equal(joined > 0, mask)
    _, pieces = ndimage.label(mask)
    assert joined.max() == len(graph.parts) <= pieces  # parts that touch at corners only stay apart


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_what_is_seen_does_not_depend_on_which_comes_first_and_is_of_the_joint_borders(number):
    mask = piece_of(number)
    graph = build_region_graph(mask)
    for first, second in graph.neighbours():
        features = graph.pair_features(first, second)
        assert features.shape == (len(PAIR_FEATURES),) and np.isfinite(features).all()
        np.testing.assert_allclose(graph.pair_features(second, first), features, atol=1e-9)
    if graph.neighbours():
        graph.join(*graph.neighbours()[0])
        again = RegionGraph(graph.labels, depths(mask), outline_of(mask))
        names = dict(zip(graph.parts, again.parts, strict=True))
        assert {(names[one], names[two]) for one, two in graph.neighbours()} == set(again.neighbours())
        for one, two in graph.neighbours():
            np.testing.assert_allclose(
                again.pair_features(names[one], names[two]), graph.pair_features(one, two), atol=1e-9
            )


def test_two_discs_look_as_geometry_says():
    apart, radius = 60.0, 40.0
    graph = build_region_graph(two_discs(apart))
    assert graph.neighbours() == [(1, 2)]
    features = dict(zip(PAIR_FEATURES, graph.pair_features(1, 2), strict=True))
    waist = np.sqrt(radius**2 - apart**2 / 4)
    assert features["neck"] == pytest.approx(np.log(waist / radius), abs=0.05)
    assert features["border"] == pytest.approx(waist / radius, abs=0.05)
    assert features["shallower notch"] == pytest.approx((radius - waist) / radius, abs=0.05)
    assert features["deeper notch"] == pytest.approx((radius - waist) / radius, abs=0.05)
    assert features["distance"] == pytest.approx(apart / (2 * radius), abs=0.05)
    assert features["size"] == pytest.approx(np.log(radius), abs=0.05)
    union = two_discs(apart).sum()
    hull = np.pi * radius**2 + 2 * radius * apart
    assert features["hollow"] == pytest.approx(1 - union / hull, abs=0.01)
    assert features["outside"] == pytest.approx(2 * (hull - union) / union, abs=0.02)
    assert features["open ends"] == 2
    assert features["ratio of areas"] == pytest.approx(0, abs=0.03)
    triple = np.kron(two_discs(apart), np.ones((3, 3), bool))
    larger = RegionGraph(np.kron(graph.labels, np.ones((3, 3), np.int32)), depths(triple), outline_of(triple))
    grown = dict(zip(PAIR_FEATURES, larger.pair_features(1, 2), strict=True))
    assert grown.pop("size") == pytest.approx(features.pop("size") + np.log(3), abs=0.05)
    assert 0 < features.pop("roughness") < 0.2 and 0 < grown.pop("roughness") < 0.3  # the stairs of the pixels
    for name, value in grown.items():
        assert value == pytest.approx(features[name], abs=0.1 if "corner" in name else 0.06), name


def test_an_outline_turns_inwards_at_notches_only_and_is_as_rough_as_its_noise():
    mask = two_discs(60)
    outline = outline_of(mask)
    waist = np.sqrt(40**2 - 30**2)
    notches, elsewhere = [(70 - waist, 120), (70 + waist, 120)], [(30, 90), (110, 150), (70, 50), (70, 120)]
    corner = waist / 40  # each arm runs at this slope to the line between their ends
    np.testing.assert_allclose(outline.corners(np.array(notches)), corner, atol=0.15)
    assert (outline.corners(np.array(elsewhere)) < 0.05).all()
    noise = ndimage.gaussian_filter(np.random.default_rng(0).standard_normal(mask.shape), 2)
    away = ndimage.distance_transform_edt(mask) - ndimage.distance_transform_edt(~mask)
    roughness = []
    for amount in (0.5, 1.0, 2.0):
        rough = ndimage.binary_fill_holes(away > amount * noise / noise.std())
        labels, _ = ndimage.label(rough)
        rough = labels == labels[70, 90]
        roughness.append(outline_of(rough).roughness)
    assert outline.roughness < roughness[0] < roughness[1] < roughness[2]


def test_a_disc_between_others_is_covered_by_them():
    """Three discs in a triangle: the place between them is the deepest, and all of its disc is theirs."""
    rows, columns = np.indices((200, 200))
    turns = np.radians([90, 210, 330])
    centres = 100 + 37 * np.column_stack([np.sin(turns), np.cos(turns)])
    mask = np.any([np.hypot(rows - row, columns - column) < 40 for row, column in centres], axis=0)
    graph = build_region_graph(mask)
    middle = [name for name, part in graph.parts.items() if np.hypot(*(part.place - 100)) < 5]
    assert len(graph.parts) == 4 and len(middle) == 1
    assert graph.covered(middle[0]) > 0.95
    assert all(graph.covered(name) < 0.7 for name in graph.parts if name != middle[0])
    assert find_objects(mask).max() == 3


def test_a_rule_is_its_network():
    random = np.random.default_rng(0)
    rule = JoiningRule(
        random.standard_normal(3),
        random.uniform(1, 2, 3),
        (random.standard_normal((4, 3)), random.standard_normal((5, 4)), random.standard_normal((1, 5))),
        (random.standard_normal(4), random.standard_normal(5), random.standard_normal(1)),
    )
    features = random.standard_normal((7, 3))
    for pair, value in zip(features, rule(features), strict=True):
        inner = np.tanh(rule.weights[0] @ ((pair - rule.mean) / rule.scale) + rule.biases[0])
        outer = np.tanh(rule.weights[1] @ inner + rule.biases[1])
        assert value == pytest.approx((rule.weights[2] @ outer + rule.biases[2]).item())


def test_rules_that_always_or_never_join():
    mask = two_discs(60)
    always, never = build_region_graph(mask), build_region_graph(mask)
    join_alike(always, saying(1.0))
    join_alike(never, saying(-1.0))
    assert (len(always.parts), len(never.parts)) == (1, 2)
    assert find_objects(mask, saying(1.0)).max() == 1


def test_the_shipped_rule_knows_what_is_seen():
    rule = shipped_rule()
    assert rule.mean.shape == rule.scale.shape == (len(PAIR_FEATURES),)
    assert rule.weights[0].shape[1] == len(PAIR_FEATURES) and rule.weights[2].shape[0] == 1
    assert rule.scale.min() > 0 and all(np.isfinite(part).all() for part in (*rule.weights, *rule.biases))


def test_rods_with_a_rough_outline_are_one_object_though_they_have_necks():
    random = np.random.default_rng(0)
    joined, divided = [], []
    for _ in range(30):
        angle, aspect = random.uniform(0, np.pi), random.uniform(2, 5)
        rows, columns = np.indices((260, 260)) - 130.0
        along, across = np.cos(angle) * columns + np.sin(angle) * rows, np.cos(angle) * rows - np.sin(angle) * columns
        noise = ndimage.gaussian_filter(random.standard_normal(rows.shape), 2)
        away = np.hypot(np.maximum(np.abs(along) - 18 * (aspect - 1), 0), across)
        rod = ndimage.binary_fill_holes(18 - away > 0.7 * noise / noise.std())
        labels, _ = ndimage.label(rod, np.ones((3, 3)))
        mask = labels == labels[130, 130]
        joined.append(int(find_objects(mask).max()))
        divided.append(len(build_region_graph(mask).parts))
    assert joined.count(1) >= 25 and divided.count(1) <= 10
