import numpy as np

from declump.evaluation.points import match_points


def test_as_many_pairs_as_can_be():
    found = np.array([[0.0, 0.0], [0.0, 3.0]])
    true = np.array([[0.0, 2.0], [0.0, 5.0]])
    # The nearest pair alone, (0, 3) with (0, 2), would leave (0, 0) without a partner.
    of_found, of_true = match_points(found, true, 2.5)
    assert of_found.tolist() == [0, 1]
    assert of_true.tolist() == [0, 1]


def test_every_found_point_may_have_its_own_reach():
    found, true = np.array([[0.0, 0.0], [10.0, 0.0]]), np.array([[2.0, 0.0], [12.0, 0.0]])
    of_found, _ = match_points(found, true, np.array([1.0, 3.0]))
    assert of_found.tolist() == [1]


def test_nothing_found():
    assert match_points(np.zeros((0, 2)), np.zeros((3, 2)), 5.0)[0].size == 0
