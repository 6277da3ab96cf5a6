from __future__ import annotations

import numpy as np
import pytest

import declump
from declump import simulate
from declump.records.spots import Spots
from declump.regions import find_regions, judge
from declump.regions.find import FoundRegions
from declump.regions.judge import (
    CHANNELS,
    WINDOW,
    SpotPlanes,
    SpotView,
    SpotWindows,
    turn_window,
)


def planes(shape: tuple[int, int] = (120, 150), seed: int = 0) -> SpotPlanes:
    spots = np.zeros(shape, np.int32)
    spots[40:52, 60:74], spots[80:90, 20:30] = 1, 2
    return SpotPlanes(np.random.default_rng(seed).random((5, *shape), dtype=np.float32), spots)


def test_a_window_shows_the_spot_in_its_middle() -> None:
    around = planes()
    window = SpotWindows(around).sample(np.array([45.5, 66.5]), 1, SpotView())
    assert window.shape == (CHANNELS, WINDOW, WINDOW)
    # Half a pixel off the middle of an even window, so that its points are pixels.
    np.testing.assert_allclose(window[0], around.planes[0, 14:78, 35:99], atol=1e-6)
    assert window[4].sum() == 12 * 14 and window[4, 26:38, 25:39].all()


def test_beyond_the_image_there_is_background() -> None:
    window = SpotWindows(planes()).sample(np.array([2.0, 2.0]), 3, SpotView())
    assert (window[0, :20] == 1).all() and (window[1:4, :20] == 0).all() and not window[4].any()


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_view_is_the_view_of_a_turned_image(turns: int) -> None:
    around = planes((150, 150))
    turned = SpotPlanes(np.rot90(around.planes, turns, axes=(1, 2)).copy(), np.rot90(around.spots, turns).copy())
    place, straight = np.array([74.5, 74.5]), SpotView()
    expected = SpotWindows(turned).sample(place, 1, straight)
    seen = SpotWindows(around).sample(place, 1, SpotView(turn=turns * np.pi / 2))
    other = SpotWindows(around).sample(place, 1, SpotView(turn=-turns * np.pi / 2))
    assert min(np.abs(view - expected).max() for view in (seen, other)) < 1e-4


def test_probable_spots_in_clumps_are_nuclei_and_all_others_candidates() -> None:
    clump = np.zeros((60, 90), bool)
    clump[:, :60] = True
    boxes = np.array([(20, column, 30, column + 8) for column in (10, 30, 50, 75)])
    spots = Spots(boxes, [np.ones((10, 8), bool)] * 4, np.array([0.9, 0.2, 0.6, 0.95]), np.zeros(4))
    found = FoundRegions(clump, spots).to_regions(22.0, 0.5)
    assert found.nucleus_probability == pytest.approx([0.9, 0.6]) and found.candidate_probability == pytest.approx(
        [0.2, 0.95]
    )
    assert found.nuclei[25, 12] == 1 and found.nuclei[25, 52] == 2 and found.nuclei[25, 32] == 0
    assert found.candidates is not None and found.candidates[25, 32] == 1 and found.candidates[25, 77] == 2
    assert len(FoundRegions(clump, spots).to_regions(22.0, 0.0).seeds) == 3


def test_the_limit_moves_the_number_of_nuclei_and_none_leaves_it_to_rules() -> None:
    smear = simulate.smear((260, 280), cells=5, overlap=0.3, debris=6, rng=12)
    counts = [len(find_regions(smear.image, min_nucleus=limit).seeds) for limit in (0.0, 0.5, 1.0)]
    assert counts[0] >= counts[1] >= counts[2] == 0
    by_rules = find_regions(smear.image, judge="none")
    assert by_rules.nucleus_probability is None and by_rules.candidate_probability is None


def test_what_is_no_nucleus_is_kept_apart() -> None:
    smear = simulate.smear((260, 280), cells=5, overlap=0.3, debris=6, rng=12)
    result = declump.segment(smear.image, min_nucleus=0.5)
    assert result.nucleus_probability is not None and result.others is not None
    assert result.nucleus_probability.shape == (len(result),)
    everything = find_regions(smear.image, min_nucleus=0.0)
    assert everything.candidates is not None
    assert len(result) + len(result.others) == len(everything.seeds) + int(everything.candidates.max(initial=0))
    assert declump.segment(smear.image, judge="none").others is None


def test_impossible_limits_and_other_models_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        find_regions(np.zeros((9, 9)), min_nucleus=1.5)
    noise = np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)
    with pytest.raises(ValueError, match="RegionOptions"):
        declump.segment(noise, regions=declump.RegionOptions(), min_nucleus=0.3)


CHANGES = {
    "mirrored": lambda planes: planes[..., ::-1],
    "upturned": lambda planes: planes[..., ::-1, :],
    "turned": lambda planes: np.rot90(planes, 1, (-2, -1)),
    "swapped": lambda planes: np.swapaxes(planes, -1, -2),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_judge_sees_a_window_the_same_way_round_however_the_image_lies(change: str) -> None:
    window = np.random.default_rng(3).random((CHANNELS, WINDOW, WINDOW), dtype=np.float32)
    seen = turn_window(window)
    np.testing.assert_array_equal(turn_window(np.ascontiguousarray(CHANGES[change](window))), seen)


def test_the_judge_sees_the_same_of_a_mirrored_image() -> None:
    side = 240  # a multiple of three, as the far view is made of squares of so many pixels, and wider than that view
    around = planes((side, side))
    mirrored = SpotPlanes(around.planes[..., ::-1].copy(), around.spots[:, ::-1].copy())
    seen = SpotWindows(around).sample(np.array([115.5, 126.5]), 1, SpotView())
    other = SpotWindows(mirrored).sample(np.array([115.5, side - 1 - 126.5]), 1, SpotView())
    assert np.abs(seen - other).max() > 0.5
    np.testing.assert_allclose(turn_window(other), turn_window(seen), atol=1e-4)


def test_a_doubtful_spot_is_looked_at_in_all_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    model = judge.open_judge("default")
    window = np.random.default_rng(4).random((CHANNELS, WINDOW, WINDOW), dtype=np.float32)
    said = np.array([model.run(way.see(window))[0] for way in judge.WAYS], np.float64)
    assert len(np.unique(said)) == 8, "every way is another"
    monkeypatch.setattr(judge, "DOUBTFUL", 0.0)
    mean = judge._ask(model, window)
    assert np.log(mean / (1 - mean)) == pytest.approx(np.log(said / (1 - said)).mean(), rel=1e-5)
    for way in judge.WAYS:
        assert judge._ask(model, way.see(window)) == pytest.approx(mean, rel=1e-5), "which is first does not matter"
    monkeypatch.setattr(judge, "DOUBTFUL", 0.5)
    assert judge._ask(model, window) == said[0], "a sure one is looked at once"


def test_doubt_is_symmetric_and_ends_at_its_limit() -> None:
    sure, doubtful = np.array([0.0, 0.1, 0.9, 1.0]), np.array([0.11, 0.5, 0.89])
    assert not judge.is_doubtful(sure).any() and judge.is_doubtful(doubtful).all()
