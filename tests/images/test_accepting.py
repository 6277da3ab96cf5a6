from __future__ import annotations

from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

import declump
from declump.images.accepting import to_pixels

PIXELS = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)


@pytest.fixture(scope="module")
def smear():
    return declump.simulate.smear((240, 280), cells=4, clumps=1, rng=3)


def given_as(kind: str, pixels: np.ndarray, folder: Path):
    if kind in ("path", "name"):
        iio.imwrite(folder / "image.png", pixels)
        return folder / "image.png" if kind == "path" else str(folder / "image.png")
    if kind == "list":
        return pixels.tolist()
    library = pytest.importorskip(kind, reason=f"{kind} is not installed")
    if kind == "dask":
        import dask.array

        return dask.array.from_array(pixels, chunks=(3, 3, 3))
    if kind == "zarr":
        array = library.create_array(folder / "image.zarr", shape=pixels.shape, dtype=pixels.dtype)
        array[:] = pixels
        return array
    return library.DataArray(np.moveaxis(pixels, 2, 0)[None], dims=("t", "c", "y", "x"))


@pytest.mark.parametrize("kind", ["path", "name", "list", "dask", "zarr", "xarray"])
def test_whatever_holds_an_image_gives_the_same_pixels(kind, tmp_path):
    assert np.array_equal(to_pixels(given_as(kind, PIXELS, tmp_path)), PIXELS)


@pytest.mark.parametrize("kind", ["path", "dask", "zarr", "xarray"])
def test_segment_measure_draw_and_write_take_what_holds_an_image(kind, smear, tmp_path):
    given = given_as(kind, smear.image, tmp_path)
    numbers = (np.arange(1, 1 + len(smear.nuclei))[:, None, None] * smear.nuclei).max(axis=0)
    known = declump.Regions(clump=smear.clump, nuclei=numbers)
    result, expected = declump.segment(given, regions=known), declump.segment(smear.image, regions=known)
    assert np.array_equal(result.radii, expected.radii)
    measured, wanted = declump.measure(result, given).cells, declump.measure(expected, smear.image).cells
    assert np.array_equal(measured["cell_optical_density"], wanted["cell_optical_density"])
    assert np.array_equal(declump.pictures.overlay(result, given), declump.pictures.overlay(expected, smear.image))
    declump.io.write_results(result, tmp_path / "a", image=given, formats=("overlay",))
    declump.io.write_results(expected, tmp_path / "b", image=smear.image, formats=("overlay",))
    assert (tmp_path / "a" / "overlay.png").read_bytes() == (tmp_path / "b" / "overlay.png").read_bytes()


def test_axes_of_unknown_names_stay_as_they_are():
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    array = xarray.DataArray(PIXELS, dims=("depth", "y", "x"))
    assert np.array_equal(to_pixels(array), PIXELS)


def test_a_masked_array_stays_one_and_is_refused():
    masked = np.ma.masked_array(PIXELS, PIXELS > 50)
    assert to_pixels(masked) is masked
    with pytest.raises(ValueError, match="masked array"):
        declump.segment(masked)


def test_a_path_without_a_file_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        declump.segment(tmp_path / "none.png")
