from __future__ import annotations

import numpy as np
import pytest

from declump.records.clump import split_clumps
from declump.regions import Regions
from declump.shapes.prior import ShapePrior
from declump_paper.compared import find_method
from declump_paper.compared.labelling import Gaussian, fit_gaussians, label_costs, label_pixels, neighbouring
from declump_paper.compared.mcl import mcl, move_window, region_fit
from declump_paper.compared.templates import fit_template, make_templates
from paper_support.level_set_clumps import dices, ellipse, nuclei_of, picture_of, regions_of, three_ellipses, two_discs


@pytest.fixture(scope="module")
def shapes() -> np.ndarray:
    return make_templates(ShapePrior.load("default"))


@pytest.mark.parametrize(("cells", "least"), [(two_discs(), 0.92), (three_ellipses(), 0.93)], ids=["two", "three"])
def test_overlapping_cells_come_out_whole(cells: np.ndarray, least: float) -> None:
    result = mcl(picture_of(cells), regions_of(cells))
    assert dices(result.masks, cells).min() > least
    assert (result.masks[0] & result.masks[1]).any()


def test_the_only_cell_of_a_clump_is_about_the_clump() -> None:
    cells = ellipse((80, 90), 40, 45, 30, 22, 0.5)[None]
    assert dices(mcl(picture_of(cells), regions_of(cells)).masks, cells).min() > 0.95


def test_cells_at_the_image_border() -> None:
    cells = two_discs()[:, 30:, 30:]
    assert dices(mcl(picture_of(cells), regions_of(cells)).masks, cells).min() > 0.85


def test_no_cells_and_seeds_outside() -> None:
    empty = np.zeros((40, 50), bool)
    assert len(mcl(np.full((40, 50), 200, np.uint8), Regions(empty, empty))) == 0
    cells = two_discs()
    nuclei = nuclei_of(cells)
    nuclei[2:6, 2:6] = 3
    result = mcl(picture_of(cells), Regions(cells.any(axis=0), nuclei))
    assert len(result) == 3 and not result.radii[2].any() and result.clump[2] == -1
    assert dices(result.masks[:2], cells).min() > 0.9


def test_the_prior_is_heeded_and_the_same_input_gives_the_same_bytes() -> None:
    cells, calls = two_discs(), []
    image, regions = picture_of(cells), regions_of(cells)
    first = find_method("mcl")(image, regions, progress=lambda done, total: calls.append((done, total)))
    assert first.radii.tobytes() == mcl(image, regions, prior=ShapePrior.load("default")).radii.tobytes()
    assert first.radii.tobytes() != mcl(image, regions, prior=ShapePrior.load("round")).radii.tobytes()
    assert calls == [(2, 2)]


def test_templates_are_few_shapes_of_the_prior(shapes: np.ndarray) -> None:
    assert shapes.shape == (42, 72)
    np.testing.assert_allclose(shapes.mean(axis=1), 1)
    assert shapes.min() > 0 and len(np.unique(shapes.round(6), axis=0)) == 42
    assert np.array_equal(shapes, make_templates(ShapePrior.load("default")))
    constant = ShapePrior(np.full(36, 10.0), np.zeros((36, 0)), np.zeros(0))
    np.testing.assert_allclose(make_templates(constant), 1)


@pytest.mark.parametrize("turn", [0, 17, 50])
def test_a_turned_and_mirrored_template_is_found_again(shapes: np.ndarray, turn: int) -> None:
    none = np.zeros(72, bool)
    outline = 33 * np.roll(shapes[7], turn)
    np.testing.assert_allclose(fit_template(shapes, outline, none), outline)
    np.testing.assert_allclose(fit_template(shapes, outline[::-1], none), outline[::-1])


def test_a_template_reaches_beyond_open_ends(shapes: np.ndarray) -> None:
    whole = 40 * shapes[3]
    cut = whole.copy()
    cut[20:38] *= 0.5
    hidden = np.zeros(72, bool)
    hidden[20:38] = True
    bold, timid = (fit_template(shapes, cut, ends) for ends in (hidden, np.zeros(72, bool)))
    assert np.abs(bold - whole).mean() < 0.5 * np.abs(timid - whole).mean()
    assert bold[hidden].mean() > 1.5 * cut[hidden].mean()


def test_labels_cover_the_clump_and_part_it_between_its_nuclei() -> None:
    cells = two_discs()
    (clump,) = split_clumps(cells.any(axis=0), [(50, 48), (50, 92)])
    masks = label_pixels(np.where(clump.mask, 0.7, 1.0), clump)
    assert np.array_equal(masks.any(axis=0), clump.mask) and not (masks[0] & masks[1]).any()
    window = np.s_[:, clump.origin[0] :, clump.origin[1] :]
    alone = (cells & ~cells[::-1])[window][:, : clump.mask.shape[0], : clump.mask.shape[1]]
    assert ((masks & alone).sum(axis=(1, 2)) > 0.98 * alone.sum(axis=(1, 2))).all()


def test_gaussians_lie_along_cells() -> None:
    flat = ellipse((90, 160), 45, 40, 38, 20, 0) | ellipse((90, 160), 45, 115, 38, 20, 0)
    (clump,) = split_clumps(flat, [(45, 40), (45, 115)])
    for gaussian in fit_gaussians(clump):
        along = gaussian(gaussian.centre + np.array([[0, 20.0]]))[0]
        across = gaussian(gaussian.centre + np.array([[20.0, 0]]))[0]
        assert gaussian(gaussian.centre[None].astype(float))[0] == 1 and along > 1.2 * across


def test_a_gaussian_has_two_spreads() -> None:
    gaussian = Gaussian(np.array([5, 5]), np.pi / 2, 4.0, 2.0)
    np.testing.assert_allclose(gaussian(np.array([[9.0, 5.0], [5.0, 7.0], [5.0, 5.0]])), np.exp([-0.5, -0.5, 0]))


def test_costs_of_labels() -> None:
    costs = label_costs(np.array([[0.9, 0.2]]))
    np.testing.assert_allclose(costs, [[-np.log(0.9 * 0.8), -np.log(0.2 * 0.1)]])
    assert np.isfinite(label_costs(np.array([[0.0, 1.0]]))).all()


def test_labels_change_freely_across_an_edge() -> None:
    edges, weights = neighbouring(np.ones((1, 3), bool), np.array([[0.5, 0.5, 0.9]]))
    assert edges.tolist() == [[0, 1], [1, 2]]
    np.testing.assert_allclose(weights, [0.1, 0])


@pytest.mark.parametrize("wanted", [np.s_[2:9, 5:30], np.s_[12:20, 0:12], np.s_[0:30, 0:30], np.s_[25:30, 25:30]])
def test_values_seen_in_another_window(wanted: tuple[slice, slice]) -> None:
    given, whole = np.s_[4:16, 6:20], np.ones((30, 30))
    whole[given] = np.random.default_rng(0).normal(size=(12, 14))
    assert np.array_equal(move_window(whole[given], given, wanted), whole[wanted])


def test_regions_draw_the_outline_to_an_edge_of_the_image() -> None:
    rows, columns = np.indices((60, 60))
    distance = np.hypot(rows - 30, columns - 30)
    levels = np.where(distance <= 20, 0.0, 1.0)
    for radius, sign in ((17, -1), (23, 1)):
        push = region_fit(levels, np.clip(distance - radius, -4, 4))
        between = (np.abs(distance - (radius + 20) / 2) < 1) & (distance > 0)
        assert (np.sign(push[between]) == sign).all()
