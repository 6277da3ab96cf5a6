from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from declump_paper.research.statistics import holm, paired_t_test

STUDIES = st.floats(-100, 100).map(lambda value: round(value, 3))


@given(st.lists(st.tuples(STUDIES, STUDIES), min_size=2, max_size=30))
def test_the_paired_test_is_scipys(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs).T
    test = paired_t_test(first, second)
    differences = first - second
    if not differences.any():
        assert np.isnan(test.t) and np.isnan(test.p)
        return
    if differences.std() <= 1e-12 * abs(differences.mean()):
        assert np.isinf(test.t) and test.p == 0
        return
    expected = stats.ttest_rel(first, second)
    assert test.t == pytest.approx(expected.statistic, rel=1e-7)
    assert test.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-300)
    assert test.effect == pytest.approx(differences.mean() / differences.std(ddof=1), rel=1e-7)
    assert test.difference == pytest.approx(differences.mean())


def test_a_case_by_hand() -> None:
    # Differences 1, 0, 2, 3: mean 1.5, squared deviations 0.25 + 2.25 + 0.25 + 2.25 = 5, variance 5 / 3.
    test = paired_t_test([1, 2, 3, 5], [0, 2, 1, 2])
    assert (test.count, test.difference) == (4, 1.5)
    assert test.effect == pytest.approx(1.5 / np.sqrt(5 / 3))
    assert test.t == pytest.approx(2 * test.effect)


def test_pairs_with_a_gap_are_left_out() -> None:
    whole = paired_t_test([1, 2, 4], [0, 0, 1])
    assert paired_t_test([1, np.nan, 2, 4], [0, 5, 0, 1]) == whole
    assert paired_t_test([], []).count == 0
    with pytest.raises(ValueError, match="of one length"):
        paired_t_test([1, 2], [1])


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.5 times 4, 3, 2, 1: 0.04, 0.06, 0.06 (not below the one before), 0.5.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.6, 0.7]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []
    with_gap = holm([0.01, float("nan"), 0.04])
    assert with_gap[0] == pytest.approx(0.02) and np.isnan(with_gap[1]) and with_gap[2] == pytest.approx(0.04)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_procedure_rejects(values: list[float], level: float) -> None:
    corrected = np.array(holm(values))
    rejected = set()
    for step, index in enumerate(np.argsort(values, kind="stable")):
        if values[index] * (len(values) - step) > level:
            break
        rejected.add(int(index))
    assert set(np.flatnonzero(corrected <= level).tolist()) == rejected
    assert (corrected >= np.array(values)).all()
