from __future__ import annotations

import numpy as np

from declump.evolution.terms.term import RadiusDerivatives


def test_without_meetings_no_cells_share_a_block():
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(2, 16, 3))
    derivatives = RadiusDerivatives.zeros(basis)
    derivatives.by_radius[...], derivatives.diagonal[...] = rng.normal(size=(2, 16)), 1.0
    gradient, blocks, pairs, shared = derivatives.project()
    np.testing.assert_allclose(gradient, np.einsum("nk,nkp->np", derivatives.by_radius, basis))
    np.testing.assert_allclose(blocks, np.einsum("nkp,nkq->npq", basis, basis))
    assert pairs.shape == (0, 2) and shared.shape == (0, 3, 3)


def test_meetings_of_two_terms_give_a_pair_twice_and_their_blocks_add_up():
    # Two visits of one pixel on ray 0: by cell 0 and, after it, by cell 1.
    numbers = np.array([0, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32)
    meetings = (*numbers, np.zeros(2), np.array([2.0, 3.0]), np.array([-1, 0], dtype=np.int32))
    basis = np.ones((2, 16, 1))
    derivatives = RadiusDerivatives.zeros(basis)
    for count in (1, 2):
        derivatives.couple(meetings)
        assert len(derivatives.project()[2]) == count
    _, _, pairs, shared = derivatives.project()
    np.testing.assert_array_equal(pairs, [[0, 1], [0, 1]])
    np.testing.assert_array_equal(shared, np.full((2, 1, 1), 2 * 2.0 * 3.0))
