from __future__ import annotations

import numpy as np
import pytest

import declump
from declump import find_seeds


@pytest.fixture(scope="module")
def smear() -> declump.simulate.Smear:
    return declump.simulate.smear((256, 320), cells=6, overlap=0.4, stain="grey", rng=3)


def nearest(points: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - seeds[None], axis=2).min(axis=1)


def test_a_network_finds_centres_that_the_mask_does_not_show(smear):
    """The clump says nothing of where nuclei are; the network's nearness does."""
    seeds = find_seeds(smear.clump, smear.image, model="default")
    by_shape = find_seeds(smear.clump)
    inside = np.all((smear.seeds > 8) & (smear.seeds < np.array(smear.clump.shape) - 9), axis=1)
    assert np.mean(nearest(smear.seeds[inside], seeds) < 5) > 0.8
    assert np.mean(nearest(smear.seeds[inside], by_shape) < 5) < 0.6


def test_pieces_without_a_centre_are_seeded_by_shape(smear):
    mask = smear.clump.copy()
    mask[2:12, 2:12] = True
    seeds = find_seeds(mask, smear.image, model="default")
    pixels = np.floor(seeds + 0.5).astype(int)
    assert mask[tuple(pixels.T)].all()
    if not smear.clump[:14, :14].any():
        assert np.hypot(*(seeds - 6.5).T).min() < 2


def test_a_blank_image_leaves_it_to_shape(smear):
    mask = smear.nuclei.any(axis=0)
    np.testing.assert_array_equal(
        find_seeds(mask, np.full(mask.shape, 220, np.uint8), model="default"), find_seeds(mask)
    )


def test_the_diameter_tells_the_resolution(smear):
    large = np.kron(smear.image, np.ones((2, 2), np.uint8))
    seeds = find_seeds(np.kron(smear.clump, np.ones((2, 2), bool)), large, model="default", diameter=44)
    same = find_seeds(smear.clump, smear.image, model="default")
    assert len(seeds) == len(same)
    assert nearest(2 * same + 0.5, seeds).max() < 8


def test_what_is_missing_or_does_not_fit_is_said(smear, tmp_path):
    mask = smear.clump
    with pytest.raises(ValueError, match="an image was not given"):
        find_seeds(mask, model="default")
    with pytest.raises(ValueError, match="a model was not given"):
        find_seeds(mask, smear.image)
    with pytest.raises(ValueError, match="of another size than the mask"):
        find_seeds(mask, smear.image[:-1], model="default")
    with pytest.raises(ValueError, match="from 2 to 1000; given was 1"):
        find_seeds(mask, smear.image, model="default", diameter=1)
    with pytest.raises(FileNotFoundError, match="no region model"):
        find_seeds(mask, smear.image, model=tmp_path / "none.onnx")
    with pytest.raises(ValueError, match="of no use to given ones"):
        declump.split(mask, smear.image, seeds=smear.seeds, model="default")


def test_split_evolves_from_what_the_network_found(smear):
    mask = smear.nuclei.any(axis=0)
    result = declump.split(mask, smear.image, model="default", prior="nucleus")
    assert abs(len(result) - len(smear.nuclei)) <= 1
    assert declump.score(smear.nuclei, result.masks).dice_good > 0.9
