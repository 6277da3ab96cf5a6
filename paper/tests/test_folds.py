from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from declump_paper.folds import folds

sizes = st.integers(2, 9).flatmap(lambda n_folds: st.tuples(st.integers(n_folds, 60), st.just(n_folds)))


@given(sizes, st.integers(0, 5), st.sampled_from(["one", "rest"]))
def test_parts_partition_the_images(size, seed, train):
    n_images, n_folds = size
    split = folds(n_images, n_folds=n_folds, rng=seed, train=train)
    assert len(split) == n_folds
    for training, testing in split:
        np.testing.assert_array_equal(np.sort(np.concatenate([training, testing])), np.arange(n_images))
    parts = [fold[0 if train == "one" else 1] for fold in split]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n_images))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_the_papers_protocol_trains_on_a_fifth():
    assert [(len(train), len(test)) for train, test in folds(45)] == [(9, 36)] * 5
    assert [(len(train), len(test)) for train, test in folds(45, train="rest")] == [(36, 9)] * 5


def test_folds_are_deterministic():
    for (train, test), (same_train, same_test) in zip(folds(45), folds(45), strict=True):
        np.testing.assert_array_equal(train, same_train)
        np.testing.assert_array_equal(test, same_test)
    np.testing.assert_array_equal(folds(45, rng=3)[0][0], folds(45, rng=np.random.default_rng(3))[0][0])
    assert any((a[0] != b[0]).any() for a, b in zip(folds(45, rng=0), folds(45, rng=1), strict=True))


@given(st.lists(st.integers(0, 9), min_size=10, max_size=30), st.sampled_from(["one", "rest"]))
def test_a_group_never_trains_and_tests(groups, train):
    assume(len(set(groups)) >= 3)
    numbers = np.array(groups)
    for training, testing in folds(len(groups), n_folds=3, groups=groups, train=train):
        assert not set(numbers[training]) & set(numbers[testing])
        assert len(training) + len(testing) == len(groups)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="5 folds of 4 images"):
        folds(4)
    with pytest.raises(ValueError, match="1 folds of 4 images"):
        folds(4, n_folds=1)
    with pytest.raises(ValueError, match="choose 'one'"):
        folds(10, train="both")
    with pytest.raises(ValueError, match="3 for 10 images"):
        folds(10, groups=[0, 1, 2])
    with pytest.raises(ValueError, match="5 folds of 6 images in 2 groups"):
        folds(6, groups=[0, 0, 0, 1, 1, 1])
