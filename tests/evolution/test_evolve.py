from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from declump import simulate
from declump.evidence import Evidence
from declump.evolution.evolve import estimate_scale, evolve
from declump.evolution.settings import SETTINGS
from declump.records.segmentation import Segmentation
from declump.shapes import contours
from declump.shapes.examples import shape_examples
from declump.shapes.prior import ShapePrior, add_turned_copies


def disc(shape: tuple[int, int], row: float, column: float, radius: float) -> np.ndarray:
    rows, columns = np.indices(shape, sparse=True)
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def two_discs() -> tuple[np.ndarray, list[tuple[int, int]]]:
    shape = (100, 140)
    return disc(shape, 50, 50, 30) | disc(shape, 50, 88, 30), [(50, 50), (50, 88)]


def dice(one: np.ndarray, two: np.ndarray) -> float:
    return 2 * np.sum(one & two) / (np.sum(one) + np.sum(two))


def discrepancies(mask: np.ndarray, cells: Segmentation) -> list[int]:
    """Hard discrepancy of every clump, counted on the masks."""
    labels, count = ndimage.label(mask, np.ones((3, 3)))
    unions = [cells.masks[cells.clump == index].any(axis=0) for index in range(count)]
    return [int(np.sum((labels == index + 1) != union)) for index, union in enumerate(unions)]


# Cells found


def test_two_overlapping_discs():
    mask, seeds = two_discs()
    cells = evolve(mask, seeds)
    np.testing.assert_array_equal(cells.seeds, seeds)
    np.testing.assert_array_equal(cells.clump, [0, 0])
    assert cells.shape == mask.shape
    for index, (row, column) in enumerate(seeds):
        assert dice(cells.masks[index], disc(mask.shape, row, column, 30)) > 0.97
    assert cells.clumps[0].size == mask.sum()
    assert cells.energy[0] < 0.02 * mask.sum()


def test_one_cell():
    mask = disc((60, 70), 30.3, 34.8, 18)
    cells = evolve(mask, [(29, 36)])
    assert len(cells) == 1
    assert dice(cells.masks[0], mask) > 0.97


@pytest.mark.parametrize("setting", ["joint", "paper"])
def test_energy_is_the_discrepancy_of_the_masks(setting):
    for number in range(4):
        made = simulate.smear((160, 160), cells=6, radius=22, overlap=0.3, rng=number)
        cells = evolve(made.clump, made.seeds, setting=setting)
        assert cells.energy.tolist() == discrepancies(made.clump, cells)


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0])
def test_energy_is_the_discrepancy_of_the_masks_at_a_scale_that_does_not_fit(scale):
    mask = np.zeros((300, 300), dtype=bool)
    mask[140:160, 140:160] = True
    cells = evolve(mask, [(150, 150)], scale=scale)
    assert cells.energy.tolist() == discrepancies(mask, cells)


def test_cells_of_far_apart_clumps_do_not_influence_each_other():
    mask, seeds = two_discs()
    other = disc((100, 140), 40, 60, 25) | disc((100, 140), 60, 80, 28)
    both = np.concatenate([mask, other], axis=1)
    more = [(40, 60), (60, 80)]
    together = evolve(both, seeds + [(row, column + 140) for row, column in more], scale=0.5)
    # Rounding differs with the place in the image, and conjugate gradients on flat valleys blow it up.
    np.testing.assert_allclose(together.radii[:2], evolve(mask, seeds, scale=0.5).radii, atol=0.1)
    np.testing.assert_allclose(together.radii[2:], evolve(other, more, scale=0.5).radii, atol=0.1)


def test_rows_of_the_result_follow_the_seeds_whatever_their_clump():
    mask = disc((60, 200), 30, 30, 20) | disc((60, 200), 30, 100, 20) | disc((60, 200), 30, 170, 20)
    cells = evolve(mask, [(30, 170), (30, 30), (30, 100)])
    np.testing.assert_array_equal(cells.clump, [2, 0, 1])
    for index, column in enumerate((170, 30, 100)):
        assert dice(cells.masks[index], disc(mask.shape, 30, column, 20)) > 0.97


def test_the_same_input_gives_the_same_bytes():
    made = simulate.smear((160, 160), cells=6, radius=22, rng=9)
    one, two = (evolve(made.clump, made.seeds) for _ in range(2))
    assert one.radii.tobytes() == two.radii.tobytes()
    assert one.clumps == two.clumps


# Borders and tiny things


@pytest.mark.parametrize(("row", "column"), [(0, 40), (5, 40), (59, 40), (30, 0), (30, 79), (0, 0), (59, 79), (4, 76)])
@pytest.mark.parametrize("setting", ["joint", "paper"])
def test_a_cell_cut_by_the_border_or_in_a_corner(row, column, setting):
    mask = disc((60, 80), row, column, 20)
    cells = evolve(mask, [(row, column)], setting=setting)
    assert dice(cells.masks[0], mask) > 0.9
    assert cells.radii.min() > 5


@pytest.mark.parametrize("setting", ["joint", "paper"])
def test_an_image_of_one_pixel(setting):
    cells = evolve(np.ones((1, 1), dtype=bool), [(0, 0)], setting=setting)
    assert cells.masks.tolist() == [[[True]]]
    assert cells.energy.tolist() == [0]


@pytest.mark.parametrize("setting", ["joint", "paper"])
def test_a_clump_of_one_pixel(setting):
    mask = np.zeros((20, 20), dtype=bool)
    mask[7, 9] = True
    cells = evolve(mask, [(7, 9)], setting=setting)
    np.testing.assert_array_equal(cells.masks[0], mask)


@pytest.mark.parametrize("setting", ["joint", "paper"])
def test_a_mask_without_background(setting):
    cells = evolve(np.ones((50, 60), dtype=bool), [(20, 20), (49, 59), (0, 0)], setting=setting)
    assert np.isfinite(cells.radii).all()
    assert cells.masks.any(axis=0).mean() > 0.9


def test_more_seeds_than_a_clump_can_hold():
    mask = disc((20, 20), 10, 10, 4)
    cells = evolve(mask, np.argwhere(mask))
    assert len(cells) == mask.sum()
    assert np.isfinite(cells.radii).all()
    assert cells.energy[0] <= 0.05 * mask.sum()


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["joint", "paper"]))
def test_any_mask_and_seeds_give_finite_outlines(number, setting):
    rng = np.random.default_rng(number)
    shape = tuple(rng.integers(1, 40, 2))
    smooth = ndimage.gaussian_filter(rng.normal(size=shape), rng.uniform(0, 4))
    mask = smooth > np.quantile(smooth, rng.random())
    seeds = rng.permutation(mask.size)[: rng.integers(0, 12)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* outside the mask", category=UserWarning)
        cells = evolve(mask, np.column_stack(np.unravel_index(seeds, shape)), setting=setting)
    inside = mask.ravel()[seeds]
    np.testing.assert_array_equal(cells.clump >= 0, inside)
    assert np.all(cells.radii[inside] >= 0.5)
    assert np.all(cells.radii[~inside] == 0)
    assert all(record.history[-1] <= record.history[0] or setting == "joint" for record in cells.clumps)


# Defined outcomes


def test_a_seed_outside_the_mask_gets_an_empty_outline_and_a_warning():
    mask, seeds = two_discs()
    with pytest.warns(UserWarning, match="1 of 3 seeds lie outside the mask and got an empty outline: 1"):
        cells = evolve(mask, [seeds[0], (2, 2), seeds[1]])
    np.testing.assert_array_equal(cells.clump, [0, -1, 0])
    np.testing.assert_array_equal(cells.radii[1], 0)
    assert not cells.masks[1].any()
    np.testing.assert_array_equal(cells.radii[[0, 2]], evolve(mask, seeds).radii)


def test_a_seed_in_a_hole_lies_outside_the_mask():
    mask = disc((60, 60), 30, 30, 25) & ~disc((60, 60), 30, 30, 8)
    with pytest.warns(UserWarning, match="1 of 1 seeds"):
        cells = evolve(mask, [(30, 30)])
    assert cells.clump.tolist() == [-1]
    assert cells.energy.tolist() == [mask.sum()]


def test_a_warning_names_no_more_than_ten_seeds():
    with pytest.warns(UserWarning, match=r"12 of 12 seeds .*: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 \.\.\.$"):
        evolve(np.zeros((20, 20), dtype=bool), [(index, index) for index in range(12)])


def test_a_clump_without_a_seed_costs_its_size():
    mask, seeds = two_discs()
    mask[2:6, 2:7] = True
    cells = evolve(mask, seeds)
    assert [record.stopped == "no seed" for record in cells.clumps] == [True, False]
    assert cells.clumps[0].history == (20,)
    assert cells.clumps[0].size == cells.energy[0] == 20
    np.testing.assert_array_equal(cells.clump, [1, 1])


@pytest.mark.parametrize("seeds", [[], np.empty((0, 2))])
def test_no_seeds(seeds):
    mask, _ = two_discs()
    cells = evolve(mask, seeds)
    assert len(cells) == 0
    assert cells.radii.shape == (0, 360)
    assert cells.masks.shape == (0, 100, 140)
    assert cells.energy.tolist() == [mask.sum()]


def test_an_empty_mask_without_seeds():
    cells = evolve(np.zeros((9, 8), dtype=bool), [])
    assert len(cells) == 0
    assert cells.clumps == ()
    assert cells.energy.shape == (0,)


def test_an_empty_mask_with_seeds():
    with pytest.warns(UserWarning, match="2 of 2 seeds lie outside the mask"):
        cells = evolve(np.zeros((9, 8), dtype=bool), [(2, 2), (3, 3)])
    assert cells.clump.tolist() == [-1, -1]
    assert not cells.radii.any()


@pytest.mark.parametrize("values", [np.uint8(1), np.uint8(255), 1.0, np.int64(1)])
def test_masks_of_other_types(values):
    mask, seeds = two_discs()
    np.testing.assert_array_equal(evolve(mask * values, seeds).radii, evolve(mask, seeds).radii)


@pytest.mark.parametrize("value", [2, 0.5, np.nan, -1])
def test_masks_of_other_values_are_refused(value):
    mask, seeds = two_discs()
    with pytest.raises(ValueError, match="threshold"):
        evolve(mask * value, seeds)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([(50, 50), (100, 50)], "seed 1 at .* outside the image"),
        ([(-1, 50)], "outside the image"),
        ([(50, np.nan)], "finite"),
        ([(50, 50), (60, 60), (50.2, 49.9)], "seeds 0, 2 share the pixel"),
        ((50, 50), r"\(N, 2\)"),
        ([(50, 50, 1)], r"\(N, 2\)"),
    ],
)
def test_bad_seeds_are_refused(seeds, message):
    with pytest.raises(ValueError, match=message):
        evolve(two_discs()[0], seeds)


def test_seeds_are_taken_at_their_pixels():
    mask, _ = two_discs()
    cells = evolve(mask, [(50.4, 49.6), (49.7, 88.2)])
    np.testing.assert_array_equal(cells.seeds, [(50, 50), (50, 88)])


# Options


def test_settings_by_name_and_by_value():
    mask, seeds = two_discs()
    for name in ("joint", "paper"):
        by_name = evolve(mask, seeds, setting=name)
        np.testing.assert_array_equal(by_name.radii, evolve(mask, seeds, setting=SETTINGS[name]).radii)
    assert evolve(mask, seeds, setting="joint").energy != evolve(mask, seeds, setting="paper").energy
    none = evolve(mask, seeds, setting=replace(SETTINGS["joint"], steps=0))
    assert none.clumps[0].stopped == "bound"
    with pytest.raises(ValueError, match="'joint' or 'paper'"):
        evolve(mask, seeds, setting="fast")


@pytest.mark.parametrize("scale", [0, -1, np.nan, np.inf])
def test_bad_scales_are_refused(scale):
    mask, seeds = two_discs()
    with pytest.raises(ValueError, match="scale"):
        evolve(mask, seeds, scale=scale)


def test_a_scale_far_off_gives_finite_outlines_or_is_named_in_the_error():
    mask, seeds = two_discs()
    for scale in (1e-6, 0.01, 5, 8):
        cells = evolve(mask, seeds, scale=scale)
        assert np.isfinite(cells.radii).all()
    with pytest.raises(ValueError, match="scale"):
        evolve(mask, seeds, scale=1e4)


def test_the_scale_is_estimated_from_the_area_per_seed():
    prior = ShapePrior.load("default")
    mask, seeds = two_discs()
    cells = evolve(mask, seeds)
    expected = np.sqrt(mask.sum() / 2 / contours.area(prior.mean)) / 0.94
    np.testing.assert_array_equal(cells.radii, evolve(mask, seeds, scale=expected).radii)
    assert estimate_scale([], prior) == 1


def test_a_prior_by_name_by_path_and_by_value(tmp_path):
    mask, seeds = two_discs()
    prior = ShapePrior.load("default")
    prior.save(tmp_path / "prior.npz")
    by_name = evolve(mask, seeds)
    np.testing.assert_array_equal(by_name.radii, evolve(mask, seeds, prior=prior).radii)
    np.testing.assert_array_equal(by_name.radii, evolve(mask, seeds, prior=str(tmp_path / "prior.npz")).radii)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        evolve(mask, seeds, prior=str(tmp_path / "nowhere.npz"))


@pytest.mark.parametrize("rays", [16, 64, 101])
def test_a_prior_with_another_number_of_rays(rays):
    mask, seeds = two_discs()
    smear = simulate.smear(cells=12, overlap=0.2, rng=3)
    examples = shape_examples(smear.cells, smear.seeds, rays=rays)
    cells = evolve(mask, seeds, prior=ShapePrior.fit(add_turned_copies(examples)))
    assert cells.radii.shape == (2, rays)
    for index, (row, column) in enumerate(seeds):
        assert dice(cells.masks[index], disc(mask.shape, row, column, 30)) > 0.95


def test_progress_is_told_after_every_clump():
    mask = disc((60, 200), 30, 30, 20) | disc((60, 200), 30, 100, 20) | disc((60, 200), 30, 170, 20)
    told: list[tuple[int, int]] = []
    with pytest.warns(UserWarning, match="1 of 4 seeds"):
        evolve(mask, [(30, 30), (35, 35), (30, 170), (1, 1)], progress=lambda done, count: told.append((done, count)))
    assert told == [(2, 4), (2, 4), (3, 4)]


# Evidence beside the mask


def oracle(cells: np.ndarray, seeds: np.ndarray, std: float = 1.0) -> Evidence:
    """What is to be found: whole outlines."""
    pixels = np.floor(seeds + 0.5)
    radii = np.stack([contours.outermost_crossings(*pair)[0] for pair in zip(cells, pixels, strict=True)])
    return Evidence(radii, np.full(radii.shape, std))


@pytest.mark.parametrize("number", [0, 1])
def test_evidence_of_an_image_reaches_every_clump(number):
    made = simulate.smear((260, 260), cells=10, clumps=3, radius=26, overlap=0.5, rng=number)
    evidence = oracle(made.cells, made.seeds)

    def mean_dice(told: Evidence | None) -> float:
        cells = evolve(made.clump, made.seeds, evidence=told)
        return float(np.mean([dice(*pair) for pair in zip(cells.masks, made.cells, strict=True)]))

    assert mean_dice(evidence) > max(0.96, mean_dice(None) + 0.02)


def test_no_evidence_is_what_was_before():
    made = simulate.smear((160, 160), cells=6, radius=22, rng=9)
    one, two = evolve(made.clump, made.seeds), evolve(made.clump, made.seeds, evidence=Evidence())
    assert one.radii.tobytes() == two.radii.tobytes()
    assert one.clumps == two.clumps


def test_evidence_with_seeds_outside_the_mask_keeps_its_rows():
    mask, seeds = two_discs()
    discs = np.stack([disc(mask.shape, *seed, 30) for seed in seeds])
    evidence = oracle(discs, np.array(seeds))
    more = replace(evidence, radii=evidence.radii[[0, 0, 1]], radii_std=evidence.radii_std[[0, 0, 1]])
    with pytest.warns(UserWarning, match="1 of 3 seeds"):
        cells = evolve(mask, [seeds[0], (2, 2), seeds[1]], evidence=more)
    np.testing.assert_array_equal(cells.radii[[0, 2]], evolve(mask, seeds, evidence=evidence).radii)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (Evidence(np.ones((3, 360)), np.ones((3, 360))), "3 rows for 2 seeds"),
    ],
)
def test_evidence_of_other_seeds_is_refused(evidence, message):
    mask, seeds = two_discs()
    with pytest.raises(ValueError, match=message):
        evolve(mask, seeds, evidence=evidence)


def test_evidence_of_very_large_objects():
    # Half of each is hidden, and the scale misleads: only the evidence knows how far they reach.
    shape, places = (1100, 1500), np.array([(550, 600), (550, 850)])
    discs = np.stack([disc(shape, 550, 600, 480), disc(shape, 550, 850, 480)])
    evidence = oracle(discs, places, std=4.0)
    scale = 400 / ShapePrior.load("default").mean.mean()
    told, untold = (evolve(discs.any(axis=0), places, evidence=of, scale=scale).masks for of in (evidence, None))
    for index in range(2):
        assert dice(told[index], discs[index]) > 0.98
        assert dice(told[index], discs[index]) > dice(untold[index], discs[index]) + 0.01


# Very large objects


def test_a_single_very_large_disc():
    mask = disc((1500, 1500), 760, 740, 640)
    cells = evolve(mask, [(760, 740)])
    assert dice(cells.masks[0], mask) > 0.97
    assert cells.energy[0] < 0.02 * mask.sum()


def test_two_overlapping_very_large_discs():
    one, two = disc((1500, 2200), 750, 800, 480), disc((1500, 2200), 740, 1400, 480)
    cells = evolve(one | two, [(750, 800), (741, 1401)])
    assert dice(cells.masks[0], one) > 0.97
    assert dice(cells.masks[1], two) > 0.97
    assert cells.clumps[0].size == np.sum(one | two)
    assert cells.energy[0] == pytest.approx(np.sum(cells.masks.any(axis=0) != (one | two)), abs=0.01 * one.sum())


@pytest.mark.parametrize("radius", [300, 301, 302, 303])
def test_a_very_large_cell_with_its_seed_on_the_border(radius):
    mask = disc((500, 700), 499, 699, radius)
    cells = evolve(mask, [(499, 699)], scale=radius / ShapePrior.load("default").mean.mean())
    assert dice(cells.masks[0], mask) > 0.9


# What an earlier call found


def three_clumps() -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Two discs that overlap, a pair of which only one has a seed, and a disc far from both."""
    shape = (120, 420)
    places = [(60, 50), (60, 88), (60, 190), (60, 350)]
    return np.any([disc(shape, *place, 30) for place in [*places, (60, 228)]], axis=0), places


def test_a_clump_follows_from_its_own_seeds_at_a_given_scale():
    mask, seeds = three_clumps()
    first = evolve(mask, seeds, scale=0.6)
    again = evolve(mask, [seeds[3], (62, 191), *seeds[:2]], scale=0.6)
    assert again.radii[[2, 3, 0]].tobytes() == first.radii[[0, 1, 3]].tobytes()
    fewer = evolve(mask, seeds[:2], scale=0.6)
    assert fewer.radii.tobytes() == first.radii[:2].tobytes()
    assert [record.stopped for record in fewer.clumps][1:] == ["no seed", "no seed"]


def test_final_radii_are_whole_sixteenths_of_a_pixel():
    mask, seeds = three_clumps()
    radii = evolve(mask, seeds).radii
    assert (radii * 16 == np.rint(radii * 16)).all() and radii.any()


def test_masked_arrays_and_foreign_evidence_are_refused() -> None:
    mask = np.ones((40, 40), bool)
    for wrong in ({"mask": np.ma.masked_array(mask)}, {"seeds": np.ma.masked_array([(20.0, 20.0)])}):
        with pytest.raises(ValueError, match="masked array"):
            evolve(**{"mask": mask, "seeds": [(20, 20)], **wrong})
    with pytest.raises(TypeError, match="the evidence is an Evidence"):
        evolve(mask, [(20, 20)], evidence=3)


@pytest.mark.parametrize("seeds", [[(56, 60), (125, 74), (92, 126)], [(60, 122), (70, 128), (84, 128)]])
def test_the_energy_counts_all_pixels_however_small_the_scale(seeds: list[tuple[int, int]]) -> None:
    """Outlines that start tiny outgrow the crop that was cut out for them."""
    rows, columns = np.mgrid[:160, :160]
    distance = np.hypot(rows - 80, columns - 80)
    ring = (distance >= 30) & (distance <= 50)
    result = evolve(ring, seeds, prior="round", scale=0.02)
    assert result.energy.tolist() == [np.count_nonzero(result.masks.any(axis=0) != ring)]


@pytest.mark.parametrize("setting", ["paper", SETTINGS["paper"]])
def test_the_default_prior_of_the_paper_has_no_copies(setting):
    mask, seeds = two_discs()
    default, named = (evolve(mask, seeds, prior=prior, setting=setting) for prior in ("default", "paper"))
    np.testing.assert_array_equal(default.radii, named.radii)
    other = evolve(mask, seeds, prior="cytoplasm", setting=setting)
    assert not np.array_equal(default.radii, other.radii)
    joint = [evolve(mask, seeds, prior=prior) for prior in ("default", "cytoplasm")]
    np.testing.assert_array_equal(joint[0].radii, joint[1].radii)


@pytest.mark.parametrize("number", [0, 1])
def test_the_outcome_does_not_depend_on_the_order_of_the_seeds(number: int) -> None:
    smear = simulate.smear((420, 420), cells=6, clumps=1, overlap=0.5, rng=number)
    order = np.random.default_rng(number).permutation(len(smear.seeds))
    one, other = evolve(smear.clump, smear.seeds), evolve(smear.clump, smear.seeds[order])
    np.testing.assert_allclose(one.radii[order], other.radii, rtol=0, atol=1e-6)
