import subprocess
import sys

import imageio.v3
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declump.simulate import Smear, smear, write
from support.waiting import LIMIT

CLEAN = {"texture": 0, "edges": 0, "folds": 0, "debris": 0, "illumination": 0, "blur": 0, "noise": 0, "variety": 0}

smears = st.builds(
    smear,
    shape=st.tuples(st.integers(48, 160), st.integers(48, 160)),
    cells=st.integers(0, 7),
    overlap=st.floats(0, 1),
    stain=st.sampled_from(["grey", "pap", "he"]),
    radius=st.floats(8, 48),
    rng=st.integers(0, 2**32),
)


def mean_overlap(made: Smear) -> float:
    """Mean share of a cell that lies under or over others."""
    layers = made.cells.sum(axis=0)
    return float(np.mean([(layers[cell] > 1).mean() for cell in made.cells]))


@settings(max_examples=40, deadline=None)
@given(smears)
def test_truth_is_consistent(made: Smear) -> None:
    count, height, width = made.cells.shape
    assert made.image.dtype == np.uint8
    assert made.image.shape[:2] == (height, width)
    assert made.nuclei.shape == made.cells.shape
    assert made.seeds.shape == (count, 2)
    assert np.all(made.cells.any(axis=(1, 2)))
    assert not np.any(made.nuclei & ~made.cells)
    assert np.array_equal(made.clump, made.cells.any(axis=0))
    assert np.all(made.seeds >= 0) and np.all(made.seeds <= np.array((height, width)) - 1)
    for seed, nucleus in zip(made.seeds, made.nuclei, strict=True):
        assert nucleus[tuple(np.rint(seed).astype(int))]
        rows, columns = np.nonzero(nucleus)
        if rows.min() > 0 and columns.min() > 0 and rows.max() < height - 1 and columns.max() < width - 1:
            np.testing.assert_allclose(seed, (rows.mean(), columns.mean()), atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**63 - 1), st.sampled_from(["grey", "pap", "he"]))
def test_same_seed_same_bytes(seed: int, stain: str) -> None:
    options = {"cells": 4, "stain": stain, "radius": 20}
    one = smear((96, 80), rng=seed, **options)
    two = smear((96, 80), rng=np.random.default_rng(seed), **options)
    for name in ("image", "cells", "nuclei", "seeds"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_generator_moves_on() -> None:
    generator = np.random.default_rng(3)
    first, second = (smear((96, 96), cells=2, radius=16, rng=generator) for _ in range(2))
    assert first.image.tobytes() != second.image.tobytes()


def test_truth_does_not_depend_on_appearance() -> None:
    rich = smear((160, 160), cells=5, radius=25, stain="pap", rng=11)
    clean = smear((160, 160), cells=5, radius=25, stain="grey", rng=11, **CLEAN)
    assert np.array_equal(rich.cells, clean.cells)
    assert np.array_equal(rich.nuclei, clean.nuclei)
    assert not np.array_equal(rich.image[:, :, 0], clean.image)


@pytest.mark.parametrize(("stain", "channels"), [("grey", ()), ("pap", (3,)), ("he", (3,))])
def test_image_shape_by_stain(stain: str, channels: tuple[int, ...]) -> None:
    assert smear((64, 80), cells=1, radius=20, stain=stain).image.shape == (64, 80, *channels)


def test_colours_of_stains() -> None:
    options = {"cells": 6, "clumps": 6, "radius": 25, "variety": 0, "debris": 0, "rng": 5}
    he = smear((224, 224), stain="he", **options)
    plasma = he.clump & ~he.nuclei.any(axis=0)
    red, green, blue = he.image[plasma].mean(axis=0)
    assert red > blue > green
    pap = smear((224, 224), stain="pap", **options)
    red, green, blue = pap.image[pap.nuclei.any(axis=0)].mean(axis=0)
    assert blue > red and blue > green


def test_overlap_is_controlled() -> None:
    degrees = [0.0, 0.25, 0.5, 0.75, 1.0]
    means = [
        np.mean(
            [
                mean_overlap(smear((320, 320), cells=8, clumps=2, radius=25, overlap=degree, stain="grey", rng=seed))
                for seed in range(6)
            ]
        )
        for degree in degrees
    ]
    assert means[0] == 0
    assert np.all(np.diff(means) > 0.02)
    assert means[-1] > 0.6


def test_cells_fit_side_by_side_where_there_is_room() -> None:
    for seed in range(10):
        assert smear((320, 320), cells=10, radius=20, overlap=0, stain="grey", rng=seed).cells.sum(axis=0).max() == 1


def test_clumps_are_as_many_as_wanted() -> None:
    from scipy import ndimage

    for clumps in (1, 3, 6):
        made = smear((600, 600), cells=6, clumps=clumps, radius=22, overlap=0.5, stain="grey", rng=clumps)
        assert ndimage.label(made.clump)[1] == clumps


def test_nuclei_are_laid_onto_each_other_if_wanted() -> None:
    apart, joined = (
        smear((256, 320), cells=8, clumps=1, joined_nuclei=share, rng=5).nuclei.sum(axis=0).max() for share in (0, 1)
    )
    assert apart == 1 and joined > 1


def test_sizes_are_those_of_the_isbi_2015_frames() -> None:
    made = smear((1400, 1400), cells=60, clumps=60, overlap=0, stain="grey", rng=2)
    areas, nuclei = made.cells.sum(axis=(1, 2)), made.nuclei.sum(axis=(1, 2))
    assert 7000 < areas.mean() < 10000
    assert areas.min() < 4500 and areas.max() > 13000
    assert 300 < np.median(nuclei) < 500


def test_densities_add_and_saturate_as_in_the_isbi_2015_frames() -> None:
    densities = []
    for seed in range(4):
        # Without variety: one slide's strength is random, and a dark slide says nothing about the calibration.
        made = smear((600, 600), cells=28, overlap=0.6, stain="grey", variety=0, rng=seed)
        layers, plasma = made.cells.sum(axis=0), ~made.nuclei.any(axis=0)
        background = np.median(made.image[layers == 0])
        densities.append([-np.log(made.image[(layers == n) & plasma] / background).mean() for n in (1, 2, 3)])
    one, two, three = np.mean(densities, axis=0)
    # Pooled over the 8 public frames, nuclei left out, 1, 2 and 3 layers have 0.222, 0.384 and 0.519.
    np.testing.assert_allclose((one, two, three), (0.222, 0.384, 0.519), rtol=0.2)
    assert three - two < two - one < one


def test_clean_picture_is_flat_outside_cells() -> None:
    made = smear((128, 128), cells=2, radius=20, stain="grey", rng=1, **CLEAN)
    from scipy import ndimage

    outside = ~ndimage.binary_dilation(made.clump, iterations=6)
    assert np.ptp(made.image[outside]) == 0
    assert made.image[made.nuclei.any(axis=0)].mean() < made.image[made.clump].mean() < made.image[outside].mean()


@pytest.mark.parametrize("nuisance", ["debris", "illumination", "noise"])
def test_each_nuisance_can_be_switched_on_alone(nuisance: str) -> None:
    options = {"cells": 0, "stain": "grey", "rng": 8}
    assert np.ptp(smear((128, 128), **options, **CLEAN).image) == 0
    assert np.ptp(smear((128, 128), **options, **{**CLEAN, nuisance: 3}).image) > 0


@pytest.mark.parametrize(
    ("option", "amount"), [("texture", 1), ("edges", 2), ("folds", 2), ("blur", 2), ("variety", 1)]
)
def test_each_appearance_option_acts(option: str, amount: float) -> None:
    options = {"cells": 4, "radius": 25, "stain": "grey", "rng": 3}
    plain = smear((160, 160), **options, **CLEAN)
    changed = smear((160, 160), **options, **{**CLEAN, option: amount})
    assert not np.array_equal(plain.image, changed.image)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"shape": (8, 64)}, "shape"),
        ({"shape": (64.5, 64)}, "shape"),
        ({"shape": 64}, "shape"),
        ({"shape": (64, 64, 3)}, "shape"),
        ({"cells": -1}, "cells"),
        ({"cells": 2.5}, "cells"),
        ({"clumps": 0}, "clumps"),
        ({"clumps": 13}, "clumps"),
        ({"overlap": 1.1}, "overlap"),
        ({"overlap": float("nan")}, "overlap"),
        ({"stain": "giemsa"}, "'grey', 'pap', 'he'"),
        ({"joined_nuclei": 1.5}, "joined_nuclei"),
        ({"radius": 2}, "radius"),
        ({"radius": 513}, "radius"),
        ({"noise": -1}, "noise"),
        ({"blur": float("inf")}, "blur"),
        ({"rng": None}, "rng"),
        ({"rng": -4}, "rng"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        smear(**arguments)


def test_smear_checks_itself() -> None:
    image = np.zeros((20, 30), dtype=np.uint8)
    masks = np.ones((2, 20, 30), dtype=bool)
    seeds = np.zeros((2, 2))
    Smear(image, masks, masks, seeds)
    with pytest.raises(ValueError, match="image is float64"):
        Smear(image.astype(float), masks, masks, seeds)
    with pytest.raises(ValueError, match="cells is uint8"):
        Smear(image, masks.astype(np.uint8), masks, seeds)
    with pytest.raises(ValueError, match="nuclei is bool of shape"):
        Smear(image, masks, masks[:1], seeds)
    with pytest.raises(ValueError, match="seeds has shape"):
        Smear(image, masks, masks, seeds[:1])
    with pytest.raises(ValueError, match="nucleus 0 reaches outside"):
        Smear(image, np.zeros_like(masks), masks, seeds)


def test_write_uses_the_isbi_2015_layout(tmp_path) -> None:
    made = smear((96, 128), cells=3, radius=20, stain="pap", rng=6)
    folder = write(made, tmp_path / "deep" / "frame001")
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.png"))
    cells = [f"cells/cell00{n}.png" for n in (1, 2, 3)]
    assert names == [*cells, "clump.png", "image.png", "nuclei.png"]
    assert np.array_equal(imageio.v3.imread(folder / "image.png"), made.image)
    assert np.array_equal(imageio.v3.imread(folder / "clump.png") > 0, made.clump)
    assert np.array_equal(imageio.v3.imread(folder / "nuclei.png") > 0, made.nuclei.any(axis=0))
    for name, cell in zip(cells, made.cells, strict=True):
        assert np.array_equal(imageio.v3.imread(folder / name), np.where(cell, 255, 0))


def test_write_refuses_what_is_there(tmp_path) -> None:
    made = smear((64, 64), cells=1, radius=16)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("keep me")
    (tmp_path / "file").write_text("keep me")
    (tmp_path / "empty").mkdir()
    for name, words in (("full", "not empty"), ("file", "is a file")):
        with pytest.raises(FileExistsError, match=words):
            write(made, tmp_path / name)
    assert (write(made, tmp_path / "empty") / "image.png").exists()
    assert (tmp_path / "full" / "notes.txt").read_text() == "keep me"


def test_write_leaves_nothing_half_written(tmp_path, monkeypatch) -> None:
    def full_disk(path, picture) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(imageio.v3, "imwrite", full_disk)
    with pytest.raises(OSError, match="no space left"):
        write(smear((64, 64), cells=1, radius=16), tmp_path / "frame")
    assert list(tmp_path.iterdir()) == []


def test_import_is_light() -> None:
    code = "import sys, declump.simulate; print([m for m in ('scipy', 'skimage', 'imageio') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert done.stdout.strip() == "[]"
