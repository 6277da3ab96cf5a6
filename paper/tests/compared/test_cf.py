from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.shapes.contours import first_exits
from declump.shapes.prior import ShapePrior
from declump_paper.compared.cf import NOISE, Shapes, cf
from declump_paper.compared.fragments import SMOOTH_JOINT, Piece, cut_outlines, misfits, share_pieces
from declump_paper.compared.minimal_path import STEEP, closed_path
from paper_support.level_set_clumps import dices, picture_of, regions_of, three_ellipses, two_discs


@pytest.mark.parametrize(("cells", "least"), [(two_discs(), 0.96), (three_ellipses(), 0.92)], ids=["two", "three"])
def test_overlapping_cells_come_out_whole(cells: np.ndarray, least: float) -> None:
    result = cf(picture_of(cells), regions_of(cells))
    assert dices(result.masks, cells).min() > least
    assert (result.masks.sum(axis=0) > 1).any()


def test_edges_in_the_image_help() -> None:
    cells = three_ellipses()
    seen = cf(picture_of(cells), regions_of(cells))
    blind = cf(np.full(cells.shape[1:], 200, np.uint8), regions_of(cells))
    assert dices(seen.masks, cells).mean() > dices(blind.masks, cells).mean()
    assert dices(blind.masks, cells).min() > 0.85


def test_outlines_are_cut_where_cells_meet() -> None:
    cells = two_discs()
    (pieces,) = cut_outlines(np.pad(cells.any(axis=0), 1), 32.0)
    notches = [index for index, piece in enumerate(pieces) if piece.notch]
    assert len(notches) == 2
    points = np.concatenate([piece.points for piece in pieces])
    assert len(np.unique(points, axis=0)) == len(points)
    crossing = np.array([50 - np.sqrt(32**2 - 22**2), 70]) + 1
    ends = np.array([pieces[index].points[-1] for index in notches])
    assert np.hypot(*(ends - crossing).T).min() < 3
    assert max(len(piece.points) for piece in pieces) * 0.5 <= 0.35 * 32 + 1


def test_fragments_go_to_their_own_cells() -> None:
    cells = two_discs()
    clump = np.pad(cells.any(axis=0), 1)
    seeds = regions_of(cells).seeds + 1
    (pieces,) = cut_outlines(clump, 32.0)
    exits = np.stack([first_exits(clump, seed) for seed in seeds])
    costs = misfits(pieces, seeds, exits, np.full((2, 360), 30.0), np.full((2, 360), 6.0))
    labels = share_pieces(pieces, costs)
    for piece, label in zip(pieces, labels, strict=True):
        middle = piece.points.mean(axis=0)
        assert label == np.hypot(*(seeds - middle).T).argmin()


@given(st.data())
def test_pieces_are_shared_out_at_the_least_cost(data: st.DataObject) -> None:
    count, labels = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 3))
    values = st.lists(st.floats(0, 5), min_size=count * labels, max_size=count * labels)
    costs = np.array(data.draw(values)).reshape(count, labels)
    notches = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    pieces = [Piece(np.zeros((1, 2)), notch) for notch in notches]

    def cost(path: tuple[int, ...]) -> float:
        joints = sum(
            0.0 if notch or one == two else SMOOTH_JOINT
            for one, two, notch in zip(path, (*path[1:], path[0]), notches, strict=True)
        )
        return float(costs[np.arange(count), path].sum()) + joints

    found = cost(tuple(share_pieces(pieces, costs).tolist()))
    assert found == pytest.approx(min(map(cost, itertools.product(range(labels), repeat=count))), abs=1e-9)


@given(st.data())
def test_the_path_is_the_cheapest_closed_one(data: st.DataObject) -> None:
    rays, levels, bending = data.draw(st.integers(3, 5)), data.draw(st.integers(2, 5)), data.draw(st.floats(0, 2))
    values = st.lists(st.floats(0, 9), min_size=rays * levels, max_size=rays * levels)
    costs = np.array(data.draw(values)).reshape(rays, levels)
    fixed, level = data.draw(st.integers(0, rays - 1)), data.draw(st.integers(0, levels - 1))
    costs[fixed, np.arange(levels) != level] = np.inf

    def cost(path: tuple[int, ...]) -> float:
        change = np.abs(np.diff([*path, path[0]]))
        price = np.where(change <= STEEP, change**2, STEEP * (2 * change - STEEP))
        return float(costs[np.arange(rays), path].sum() + bending * price.sum())

    found = cost(tuple(closed_path(costs, bending).tolist()))
    assert found == pytest.approx(min(map(cost, itertools.product(range(levels), repeat=rays))))


def test_a_path_without_a_fixed_place_closes() -> None:
    """A ring of cheap places that slides by one level a ray, up and down again."""
    rays = 60
    wanted = 10 + np.rint(6 * np.sin(2 * np.pi * np.arange(rays) / rays)).astype(int)
    costs = np.abs(np.arange(25) - wanted[:, None]).astype(float)
    assert (closed_path(costs, 0.01) == wanted).all()


def test_a_shape_is_constructed_from_what_is_seen() -> None:
    prior = ShapePrior.load("default")
    size = float(prior.mean.mean())
    shapes = Shapes(prior.mean, prior.modes * np.sqrt(prior.variances), size)
    nothing, free = np.full(prior.rays, np.inf), np.full(prior.rays, np.inf)
    mean, std = shapes.constructed(prior.mean, nothing, free)
    assert np.allclose(mean, prior.mean)
    coefficients = np.zeros(prior.variances.size)
    coefficients[:3] = np.sqrt(prior.variances[:3]) * [1.5, -1, 1]
    truth = prior.instance(coefficients)
    half = np.where(np.arange(prior.rays) < prior.rays // 2, NOISE * size, np.inf)
    known, left = shapes.constructed(np.where(np.isfinite(half), truth, 0), half, free)
    seen = np.isfinite(half)
    assert np.abs(known - truth)[seen].max() < 0.1 * size
    assert np.abs(known - truth).mean() < np.abs(mean - truth).mean()
    assert left[~seen].mean() < std[~seen].mean() and left[seen].mean() < left[~seen].mean()
    limits = np.where(seen, 0.7 * prior.mean, np.inf)
    inside, _ = shapes.constructed(prior.mean, nothing, limits)
    assert (inside <= limits + 1e-9).all()
