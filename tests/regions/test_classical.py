import numpy as np
import pytest
from numpy.typing import NDArray

from declump.regions.classical import find_classical_regions
from declump.simulate import Smear, smear


def made(stain: str = "grey", **options: object) -> Smear:
    return smear((320, 320), cells=6, overlap=0.3, stain=stain, debris=0, rng=4, **options)


def dice(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    return 2 * float((one & other).sum()) / float(one.sum() + other.sum())


def detection(truth: NDArray[np.bool_], labels: NDArray[np.int32]) -> float:
    """F1 of the nuclei; one is found if the intersection is over 60 % of both."""
    found = [labels == index for index in range(1, labels.max() + 1)]
    right = sum(
        any((mask & nucleus).sum() > 0.6 * max(mask.sum(), nucleus.sum()) for mask in found) for nucleus in truth
    )
    return 2 * right / (len(truth) + len(found))


@pytest.mark.parametrize("stain", ["grey", "pap", "he"])
@pytest.mark.parametrize("seed", [1, 2])
def test_finds_clumps_and_nuclei(stain: str, seed: int) -> None:
    truth = smear((400, 400), cells=8, overlap=0.3, stain=stain, debris=0, rng=seed)
    clump, nuclei = find_classical_regions(truth.image)
    assert clump.dtype == np.bool_ and nuclei.dtype == np.int32
    assert clump.shape == nuclei.shape == truth.image.shape[:2]
    assert dice(clump, truth.clump) > 0.85
    assert detection(truth.nuclei, nuclei) > 0.8
    assert clump[nuclei > 0].all()
    assert np.array_equal(np.unique(nuclei), np.arange(nuclei.max() + 1))


def test_uneven_light_is_flattened() -> None:
    truth = made(illumination=0)
    row, column = np.mgrid[-1:1:320j, -1:1:320j]
    image = truth.image * (0.8 + 0.1 * column - 0.1 * row**2)
    clump, nuclei = find_classical_regions(image)
    assert dice(clump, truth.clump) > 0.85
    assert detection(truth.nuclei, nuclei) > 0.8


@pytest.mark.parametrize("stain", ["grey", "pap"])
def test_inverted_image_gives_the_same(stain: str) -> None:
    image = made(stain).image
    for one, other in zip(find_classical_regions(image), find_classical_regions(255 - image), strict=True):
        assert (one != other).mean() < 1e-3


@pytest.mark.parametrize(
    "scaled",
    [
        lambda image: image.astype(np.uint16) * 257,
        lambda image: image / 255,
        lambda image: image.astype(np.float32) * 13 + 500,
    ],
)
def test_range_does_not_matter(scaled: object) -> None:
    image = made("pap").image
    for one, other in zip(find_classical_regions(image), find_classical_regions(scaled(image)), strict=True):
        assert (one != other).sum() <= 3


def test_diameter_gives_the_scale() -> None:
    truth = smear((640, 640), cells=6, overlap=0.3, stain="grey", debris=0, radius=90, rng=4)
    clump, nuclei = find_classical_regions(truth.image, diameter=44)
    assert dice(clump, truth.clump) > 0.85
    assert detection(truth.nuclei, nuclei) > 0.8


def test_same_image_same_bytes() -> None:
    image = made().image
    first, second = find_classical_regions(image), find_classical_regions(image.copy())
    assert all(one.tobytes() == other.tobytes() for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("value", [0, 128, 255])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (64, 80), (64, 80, 3)])
def test_even_image_is_empty(shape: tuple[int, ...], value: int) -> None:
    clump, nuclei = find_classical_regions(np.full(shape, value, np.uint8))
    assert clump.shape == nuclei.shape == shape[:2]
    assert not clump.any() and not nuclei.any()


def test_noise_is_empty() -> None:
    rng = np.random.default_rng(0)
    clump, nuclei = find_classical_regions(rng.normal(230, 4, (300, 300)))
    assert not clump.any() and not nuclei.any()


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (5, 5), (17, 3)])
def test_tiny_image(shape: tuple[int, int]) -> None:
    image = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    clump, nuclei = find_classical_regions(image)
    assert clump.shape == nuclei.shape == shape


def test_saturated_background() -> None:
    truth = made()
    clump, nuclei = find_classical_regions(np.minimum(truth.image * 1.15, 255).astype(np.uint8))
    assert dice(clump, truth.clump) > 0.85
    assert detection(truth.nuclei, nuclei) > 0.8


def test_speck_without_cytoplasm_is_no_cell() -> None:
    row, column = np.mgrid[:200, :200]
    image = np.where((row - 100) ** 2 + (column - 100) ** 2 < 12**2, 90, 230).astype(np.uint8)
    clump, nuclei = find_classical_regions(image)
    assert not clump.any() and not nuclei.any()


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((0, 5)),
        np.zeros(7),
        np.zeros((4, 4, 5)),
        np.zeros((2, 4, 4, 3)),
        np.full((8, 8), np.nan),
        np.full((8, 8), np.inf),
        np.full((8, 8), "a"),
        np.zeros((8, 8), complex),
    ],
)
def test_bad_image(image: object) -> None:
    with pytest.raises(ValueError, match=r"^an image "):
        find_classical_regions(image)


@pytest.mark.parametrize("diameter", [0, -3, 2.9, np.nan, np.inf])
def test_bad_diameter(diameter: float) -> None:
    with pytest.raises(ValueError, match=r"^diameter .*; give .*\.$"):
        find_classical_regions(np.zeros((8, 8)), diameter=diameter)
