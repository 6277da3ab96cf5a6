from __future__ import annotations

import json

import numpy as np
import pytest

from declump.measurements import Confidence, calibration_curve, confidence_features, fit_confidence
from declump.measurements.confidence import FEATURES


def cells(count: int = 4000, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Outcomes that follow a logistic law: log odds 1 + 2 a - b / 10; a third feature says nothing."""
    rng = np.random.default_rng(seed)
    features = {"a": rng.normal(size=count), "b": rng.normal(5, 10, size=count), "idle": rng.random(count)}
    odds = 1 + 2 * features["a"] - features["b"] / 10
    return features, rng.random(count) < 1 / (1 + np.exp(-odds))


def test_the_law_behind_the_outcomes_is_found():
    features, reached = cells(20000)
    found = fit_confidence(features, reached, ridge=1e-3)
    weights = dict(zip(found.names, found.weights / found.scales, strict=True))
    assert weights["a"] == pytest.approx(2, rel=0.06)
    assert weights["b"] == pytest.approx(-0.1, rel=0.06)
    assert weights["idle"] == pytest.approx(0, abs=0.2)
    assert found.intercept - np.sum(found.weights * found.means / found.scales) == pytest.approx(1, abs=0.15)


def test_it_holds_on_cells_it_has_not_seen():
    found = fit_confidence(*cells(seed=1))
    features, reached = cells(seed=2)
    assert calibration_curve(found.probability(features), reached).error < 0.03


def test_the_fit_is_where_the_gradient_vanishes():
    """On the training cells the mean probability is the share reached: the intercept carries no ridge."""
    features, reached = cells(300)
    found = fit_confidence(features, reached, ridge=5.0)
    assert found.probability(features).mean() == pytest.approx(reached.mean(), abs=1e-6)


def test_a_stronger_ridge_shrinks_the_weights():
    features, reached = cells(300)
    lengths = [np.linalg.norm(fit_confidence(features, reached, ridge=ridge).weights) for ridge in (0.1, 10, 1000)]
    assert lengths[0] > lengths[1] > lengths[2]


def test_separable_and_repeated_and_constant_features_stay_finite():
    values = np.linspace(-1, 1, 40)
    features = {"x": values, "same": values, "constant": np.full(40, 7.0), "unknown": np.full(40, np.nan)}
    found = fit_confidence(features, values > 0)
    assert np.isfinite(found.weights).all()
    assert found.weights[0] == pytest.approx(found.weights[1], rel=1e-3)
    np.testing.assert_allclose(found.weights[2:], 0, atol=1e-9)
    probability = found.probability(features)
    assert (np.diff(probability) > 0).all()


def test_what_is_not_known_counts_as_the_average():
    features, reached = cells(500)
    found = fit_confidence(features, reached)
    unknown = {name: np.array([np.nan]) for name in features}
    average = {name: [mean] for name, mean in zip(found.names, found.means, strict=True)}
    assert found.probability(unknown)[0] == pytest.approx(found.probability(average)[0])
    assert found.probability(unknown)[0] == pytest.approx(1 / (1 + np.exp(-found.intercept)))


def test_other_features_are_passed_over_and_missing_ones_named():
    features, reached = cells(500)
    found = fit_confidence(features, reached)
    np.testing.assert_array_equal(found.probability({"doubt": [0], **features}), found.probability(features))
    with pytest.raises(ValueError, match="learnt with a, idle"):
        found.probability({"b": features["b"]})


def test_extreme_features_give_probabilities():
    found = fit_confidence(*cells(500))
    probability = found.probability({"a": [1e9, -1e9], "b": [0, 0], "idle": [0, 0]})
    np.testing.assert_allclose(probability, [1, 0], atol=1e-12)


def test_saved_and_read_back(tmp_path):
    features, reached = cells(500)
    found = fit_confidence(features, reached, card={"data": "made up"})
    found.save(tmp_path / "confidence.json")
    back = Confidence.load(tmp_path / "confidence.json")
    np.testing.assert_array_equal(back.probability(features), found.probability(features))
    assert back.card == {"data": "made up"}
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "confidence.json").read_bytes()


def test_the_shipped_one_reads_the_features_there_are():
    shipped = Confidence.load("default")
    columns = {name: np.ones(3) for name in (*FEATURES, "area_relative_to_median")}
    probability = shipped.probability(confidence_features(columns))
    assert ((probability >= 0) & (probability <= 1)).all()
    assert shipped.card["cells"] > 0


def test_features_of_relative_area():
    columns = {name: np.ones(3) for name in FEATURES} | {"area_relative_to_median": np.array([0.5, 2.0, 0.0])}
    features = confidence_features(columns)
    np.testing.assert_allclose(features["log_relative_area"], [-np.log(2), np.log(2), np.nan])
    np.testing.assert_allclose(features["unusual_area"], [np.log(2), np.log(2), np.nan])


@pytest.mark.parametrize(
    ("features", "reached", "ridge", "message"),
    [
        ({"a": [1.0, 2.0]}, [True], 1.0, "one outcome"),
        ({"a": [1.0, 2.0]}, [True, True], 1.0, "give both"),
        ({"a": [1.0, 2.0]}, [True, False], 0.0, "ridge"),
        ({"a": [1.0, 2.0], "b": [1.0]}, [True, False], 1.0, "one value a cell"),
        ({}, [True, False], 1.0, "one value a cell"),
        ({"a": [np.inf, 2.0]}, [True, False], 1.0, "infinite"),
    ],
)
def test_cells_that_teach_nothing_are_refused(features, reached, ridge, message):
    with pytest.raises(ValueError, match=message):
        fit_confidence(features, reached, ridge=ridge)


@pytest.mark.parametrize(
    "changes", [{"means": [0.0, 1.0]}, {"scales": [0.0]}, {"weights": [np.nan]}, {"intercept": np.inf}]
)
def test_numbers_that_do_not_belong_together_are_refused(changes):
    parts = {"names": ("a",), "means": [0.0], "scales": [1.0], "weights": [1.0], "intercept": 0.0}
    with pytest.raises(ValueError, match="confidence"):
        Confidence(**{**parts, **changes})


@pytest.mark.parametrize("text", ["{", "[]", "{}", json.dumps({"features": {"a": {}}, "intercept": 0, "card": {}})])
def test_a_file_that_is_no_confidence(tmp_path, text):
    path = tmp_path / "wrong.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"wrong\.json is not a confidence"):
        Confidence.load(path)


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="no confidence at"):
        Confidence.load(tmp_path / "none.json")
