from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

import declump
from declump.data import samples


@pytest.fixture(scope="module")
def smears() -> dict[str, declump.simulate.Smear]:
    return {stain: samples.smear(stain) for stain in ("pap", "he", "grey")}


def test_three_stains_of_the_same_cells(smears: dict[str, declump.simulate.Smear]) -> None:
    assert smears["pap"].image.shape == smears["he"].image.shape == (768, 1024, 3)
    assert smears["grey"].image.shape == (768, 1024)
    for one in ("he", "grey"):
        assert np.array_equal(smears[one].cells, smears["pap"].cells)
    overlapping = smears["pap"].cells.sum(axis=0) > 1
    assert overlapping.sum() > 10_000


def test_the_colours_are_those_of_the_stain(smears: dict[str, declump.simulate.Smear]) -> None:
    """Inside cells H&E is redder than blue; nuclei are darkest; the field is bright."""
    for smear in smears.values():
        grey = smear.image if smear.image.ndim == 2 else smear.image.mean(axis=2)
        nuclei, clump = smear.nuclei.any(axis=0), smear.clump
        assert grey[nuclei].mean() < grey[clump & ~nuclei].mean() - 40 < grey[~clump].mean() - 50
        assert np.median(grey[~clump]) > 200
    plasma = smears["he"].image[smears["he"].clump & ~smears["he"].nuclei.any(axis=0)].mean(axis=0)
    assert plasma[0] > plasma[2] > plasma[1]


def test_declump_finds_the_cells_of_its_sample(smears: dict[str, declump.simulate.Smear]) -> None:
    result = declump.segment(smears["pap"].image)
    assert declump.score(smears["pap"].cells, result.masks).dice_all > 0.8


def test_real_frames_ship_with_their_attribution() -> None:
    clean, inflamed = samples.pap(), samples.pap("inflamed")
    assert clean.shape == inflamed.shape == (1020, 1376, 3) and clean.dtype == inflamed.dtype == np.uint8
    assert not np.array_equal(clean, inflamed)
    with pytest.raises(ValueError, match="name must be 'clean' or 'inflamed', got 'clear'"):
        samples.pap("clear")  # type: ignore[arg-type]
    data = resources.files("declump.data")
    told = (data / "pap.txt").read_text("utf-8")
    for needed in ("pap-clean.jpg", "pap-inflamed.jpg", "Rezende", "CC BY 4.0", "Changes"):
        assert needed in told
    assert sum(len((data / f"pap-{name}.jpg").read_bytes()) for name in ("clean", "inflamed")) < 700_000


@pytest.fixture(scope="module")
def piece() -> np.ndarray:
    return samples.pap()[380:740, 560:960]


def check_same_cells(image: Path | np.ndarray, plain: declump.Segmentation) -> None:
    result = declump.segment(image)
    assert len(result) == len(plain) > 3
    assert np.abs(result.seeds - plain.seeds).max() < 0.5
    assert declump.score(plain.masks, result.masks).dice_all > 0.99


@pytest.mark.slow
def test_ways_to_store_colour_give_the_same_cells(piece: np.ndarray, tmp_path: Path) -> None:
    plain = declump.segment(piece)
    tifffile.imwrite(tmp_path / "16.tif", piece.astype(np.uint16) * 257, photometric="rgb")
    alpha = np.dstack([piece, np.full(piece.shape[:2], 255, np.uint8)])
    Image.fromarray(alpha).save(tmp_path / "alpha.png")
    Image.fromarray(piece).convert("CMYK").save(tmp_path / "cmyk.jpg", quality=100, subsampling=0)
    with Image.open(tmp_path / "cmyk.jpg") as file:
        assert file.mode == "CMYK"
    for name in ("16.tif", "alpha.png", "cmyk.jpg"):
        check_same_cells(tmp_path / name, plain)


@pytest.mark.slow
def test_grey_stored_as_colour_gives_the_same_cells(piece: np.ndarray) -> None:
    grey = np.rint(piece @ [0.299, 0.587, 0.114]).astype(np.uint8)
    check_same_cells(np.dstack([grey] * 3), declump.segment(grey))
