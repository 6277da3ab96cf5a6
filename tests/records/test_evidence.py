from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from declump.evidence import Evidence
from declump.records import evidence as records
from declump.records.clump import Clump, split_clumps
from declump.records.evidence import KINDS, DrawnRadii, ProposedRadii


def some() -> Evidence:
    rng = np.random.default_rng(0)
    radii, drawn = rng.uniform(1, 9, (2, 36)), rng.uniform(1, 9, (2, 36))
    return Evidence(radii, radii / 4, drawn, drawn / 8)


def test_evidence_of_everything_and_of_nothing():
    some().check(2, (7, 11))
    Evidence().check(5, (3, 3))
    assert Evidence().resample(50).radii is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"radii": np.ones((2, 36))}, "given together"),
        ({"drawn_std": np.ones((2, 36))}, "given together"),
        ({"radii": np.ones((2, 36)), "radii_std": np.ones((2, 35))}, "of one shape"),
        ({"drawn": np.ones(9), "drawn_std": np.ones(9)}, "two-dimensional"),
        ({"radii": np.full((2, 36), np.nan), "radii_std": np.ones((2, 36))}, "finite"),
        ({"drawn": -np.ones((2, 36)), "drawn_std": np.ones((2, 36))}, "not negative"),
        ({"drawn": np.ones((2, 36)), "drawn_std": np.full((2, 36), np.nan)}, "at least 0"),
        ({"radii": np.ones((2, 36)), "radii_std": np.zeros((2, 36))}, "more than 0"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        Evidence(**arrays)


def test_evidence_of_other_cells_is_refused():
    with pytest.raises(ValueError, match="2 rows for 3 seeds"):
        some().check(3, (7, 11))


def test_other_rays_leave_unknown_rays_unknown():
    std = np.full((1, 36), 2.0)
    std[0, 5:9] = np.inf
    finer = Evidence(np.full((1, 36), 7.0), std).resample(360)
    np.testing.assert_allclose(finer.radii, 7)
    np.testing.assert_array_equal(np.flatnonzero(np.isinf(finer.radii_std[0])), np.arange(41, 90))
    assert some().resample(36).radii.shape == (2, 36)


def test_every_nth_pixel_of_the_evidence():
    given, coarse = some(), some().stride(3)
    np.testing.assert_allclose(coarse.radii, given.radii / 3)
    np.testing.assert_allclose(coarse.radii_std, given.radii_std / 3)
    np.testing.assert_allclose(coarse.drawn, given.drawn / 3)
    assert Evidence().stride(2).drawn is None


@pytest.mark.parametrize("room", [0, 3, 50])
def test_evidence_of_a_clump_is_that_of_its_cells(room):
    rng = np.random.default_rng(0)
    mask = np.zeros((40, 60), dtype=bool)
    mask[10:20, 10:30], mask[10:20, 33:50] = True, True
    radii = rng.uniform(1, 9, (3, 36))
    evidence = Evidence(radii, radii / 2)
    clumps = [clump.with_room(room) for clump in split_clumps(mask, [(12, 40), (15, 15), (15, 45)])]
    for clump, cells in zip(clumps, ([1], [0, 2]), strict=True):
        own = evidence.restrict(clump)
        own.check(len(cells), clump.mask.shape)
        np.testing.assert_array_equal(own.radii, radii[cells])
        np.testing.assert_array_equal(own.radii_std, radii[cells] / 2)
    assert Evidence().restrict(clumps[0]).radii is None


def test_cells_of_which_nothing_is_known_come_last():
    more = some().add_unknown(3)
    more.check(5, (7, 11))
    np.testing.assert_array_equal(more.radii[:2], some().radii)
    np.testing.assert_array_equal(more.radii_std[2:], np.inf)
    np.testing.assert_array_equal(more.drawn_std[2:], np.inf)
    assert Evidence().add_unknown(2).radii is None


# Kinds


def test_evidence_is_its_kinds():
    parts = some().parts
    assert [type(part) for part in parts] == [ProposedRadii, DrawnRadii]
    again = Evidence.from_parts(parts[::-1])
    np.testing.assert_array_equal(again.radii_std, some().radii_std)
    np.testing.assert_array_equal(again.find(DrawnRadii).drawn, some().drawn)
    assert Evidence.from_parts(parts[1:]).find(ProposedRadii) is None
    assert Evidence().parts == ()


def test_a_replaced_array_is_in_its_kind():
    twice = replace(some(), radii=2 * some().radii)
    np.testing.assert_array_equal(twice.find(ProposedRadii).radii, 2 * some().radii)
    np.testing.assert_array_equal(twice.find(DrawnRadii).drawn_std, some().drawn_std)


@dataclass(frozen=True, eq=False)
class Marks:
    """A third kind: one number a cell."""

    marks: np.ndarray

    def check(self, cells: int, shape: tuple[int, ...]) -> None:
        if len(self.marks) != cells:
            raise ValueError("one mark a cell")

    def restrict(self, clump: Clump) -> Marks:
        return Marks(self.marks[clump.cells])

    def stride(self, stride: int) -> Marks:
        return self

    def resample(self, rays: int) -> Marks:
        return self

    def add_unknown(self, count: int) -> Marks:
        return Marks(np.append(self.marks, np.zeros(count)))


@dataclass(frozen=True, eq=False)
class MarkedEvidence(Evidence):
    marks: np.ndarray | None = None


def test_a_new_kind_asks_for_a_record_and_a_field_only(monkeypatch):
    monkeypatch.setattr(records, "KINDS", (*KINDS, Marks))
    (clump,) = split_clumps(np.ones((9, 9), bool), [(2, 2), (5, 5)])
    evidence = MarkedEvidence(marks=np.array([3.0, 4.0]))
    evidence.check(2, (9, 9))
    with pytest.raises(ValueError, match="one mark a cell"):
        evidence.add_unknown(1).check(2, (9, 9))
    np.testing.assert_array_equal(evidence.restrict(clump).stride(2).resample(90).marks, [3, 4])
