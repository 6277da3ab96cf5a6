"""A slide gives what the whole image gives, however it is divided, interrupted and taken up again."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

import declump
from declump import simulate
from declump.batch import Options
from declump.io import open_slide_result
from declump.pipelines.cells import divide_image
from declump.pipelines.cutting import Limits
from declump.pipelines.solve import CellSolver
from declump.regions import RegionOptions
from declump.slides import FORMATS, SlideOptions, segment_slide
from declump.slides.cells import quantise
from declump.slides.record import SlideRecord
from declump.slides.run import memory_for
from declump.slides.store import NUMBERS, Store

SMEAR = simulate.smear((640, 768), cells=14, clumps=5, rng=3)
KNOWN = declump.ImageStatistics(222.99, None, 22.0, 0.947, 358.6, 11126.0)


@pytest.fixture(scope="module")
def slide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("slide") / "slide.png"
    iio.imwrite(path, SMEAR.image)
    return path


@pytest.fixture(scope="module")
def done(slide: Path) -> Path:
    """Results of the slide in all formats, in small tiles."""
    out = slide.parent / "done"
    segment_slide(slide, out, SlideOptions(tile=320), statistics=KNOWN, formats=tuple(FORMATS), workers=0)
    return out


def files(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.relative_to(out).parts[0] not in ("work", "record.json")
    }


def test_a_slide_gives_what_the_whole_image_gives(done: Path) -> None:
    whole, cells = declump.segment(SMEAR.image, statistics=KNOWN), open_slide_result(done).read_window()
    order, other = (np.lexsort(seeds.T) for seeds in (whole.seeds, cells.seeds))
    np.testing.assert_array_equal(whole.seeds[order], cells.seeds[other])
    np.testing.assert_array_equal(quantise(whole.radii[order]) / 16, cells.radii[other])
    probability = np.asarray(whole.nucleus_probability)[order]
    np.testing.assert_allclose(cells.columns["nucleus_probability"][other], probability, rtol=1e-6)
    assert not cells.columns["at_cut"].any()


def test_another_tiling_gives_the_same_files(slide: Path, done: Path, tmp_path: Path) -> None:
    segment_slide(slide, tmp_path, SlideOptions(tile=768), statistics=KNOWN, formats=tuple(FORMATS), workers=0)
    assert files(tmp_path).keys() == files(done).keys()
    assert [name for name, content in files(tmp_path).items() if content != files(done)[name]] == []


@pytest.mark.slow
@pytest.mark.parametrize(("tile", "workers"), [(512, 1), (320, 2), (768, 4)])
def test_processes_give_the_same_files(slide: Path, done: Path, tmp_path: Path, tile: int, workers: int) -> None:
    options = SlideOptions(tile=tile)
    segment_slide(slide, tmp_path, options, statistics=KNOWN, formats=tuple(FORMATS), workers=workers)
    assert files(tmp_path) == files(done)


@pytest.mark.slow
def test_a_process_that_is_killed_loses_nothing(slide: Path, tmp_path: Path) -> None:
    segment_slide(slide, tmp_path / "done", SlideOptions(tile=320), formats=tuple(FORMATS), workers=0)
    options = ["--tile", "320", "-j", "1", "--format", ",".join(FORMATS)]
    command = [sys.executable, "-m", "declump.cli", "slide", str(slide), "-o", str(tmp_path / "out"), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and len(list((tmp_path / "out").glob("work/tiles/*.npz"))) < 2:
            time.sleep(0.01)
        run.kill()
    assert not (tmp_path / "out" / "summary.json").exists()
    # A worker lives on until it finds its parent gone; it ends what it had begun, which is as it should be.
    segment_slide(slide, tmp_path / "out", SlideOptions(tile=320), formats=tuple(FORMATS), workers=0, resume=True)
    assert files(tmp_path / "out") == files(tmp_path / "done")
    store = Store(tmp_path / "out", SlideRecord.read(tmp_path / "out"))
    jobs = sorted((tmp_path / "out" / "work" / "cells").glob("*.npz"))
    solved = [number for path in jobs for number in store.load("cells", path.stem, ("solved",))["solved"].tolist()]
    assert len(solved) == len(set(solved)) > 0


def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes(slide: Path, done: Path, tmp_path: Path) -> None:
    segment_slide(slide, tmp_path, SlideOptions(tile=320), statistics=KNOWN, formats=tuple(FORMATS), workers=0)
    store = Store(tmp_path, SlideRecord.read(tmp_path))
    for kind, name in (("tiles", 3), ("stitched", "filled"), ("stitched", "pieces")):
        store.path(kind, name).unlink()
    (tmp_path / "cells.parquet").unlink()
    jobs = list((tmp_path / "work" / "cells").iterdir())
    jobs[0].unlink()
    (tmp_path / ".declump-1-cells.parquet").write_bytes(b"half")
    with pytest.raises(FileExistsError, match="resume it"):
        segment_slide(slide, tmp_path, SlideOptions(tile=320), workers=0)
    segment_slide(slide, tmp_path, SlideOptions(tile=320), formats=tuple(FORMATS), workers=0, resume=True)
    assert files(tmp_path) == files(done)
    with pytest.raises(ValueError, match=r"options\.max_cells was 200, now 10"):
        segment_slide(slide, tmp_path, SlideOptions(tile=320, max_cells=10), workers=0, resume=True)


def test_a_run_that_was_killed_while_clumps_were_numbered_does_what_is_missing(
    slide: Path, done: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(done, out)
    store = Store(out, SlideRecord.read(out))
    missing = (("stitched", "pieces"), ("stitched", "cuts"), ("nuclei", 0), ("owners", 0), ("owners", 2))
    for kind, name in missing:
        store.path(kind, name).unlink()
    store.write(NUMBERS, 0, np.zeros(store.grid.box(0).shape))
    kept = {path: path.stat().st_mtime_ns for path in (store.path("nuclei", 1), store.path("owners", 1))}
    segment_slide(slide, out, SlideOptions(tile=320), formats=tuple(FORMATS), workers=0, resume=True)
    assert files(out) == files(done) and all(store.has(*one) for one in missing)
    assert kept == {path: path.stat().st_mtime_ns for path in kept}


def test_what_is_not_chosen_is_recorded_by_its_name() -> None:
    """The command line names its evidence: a run that it began is taken up from Python, and the other way round."""
    assert SlideOptions() == SlideOptions(Options(evidence="rays"))


def test_every_clump_is_once_in_the_ledger(done: Path) -> None:
    store = Store(done, SlideRecord.read(done))
    solved = [
        number for path in (done / "work" / "cells").iterdir() for number in store.load("cells", path.stem)["solved"]
    ]
    assert len(solved) == len(set(solved)) > 0


def test_the_results_are_what_other_programs_read(done: Path) -> None:
    import shapely
    import zarr
    from pyarrow import parquet

    cells = open_slide_result(done)
    collection = json.loads(gzip.decompress((done / "cells.geojson.gz").read_bytes()))
    assert len(collection["features"]) == len(cells) == 14
    whole = cells.read_window()
    areas = {str(number): area for number, area in zip(whole.ids, whole.columns["area_px2"], strict=True)}
    for feature in collection["features"]:
        shape = shapely.geometry.shape(feature["geometry"])
        assert shape.area == pytest.approx(areas[feature["properties"]["name"]], rel=0.01)
        assert shapely.geometry.shape(feature["nucleusGeometry"]).area > 50
    table = parquet.read_table(done / "cells.geo.parquet")
    told = json.loads(table.schema.metadata[b"geo"])
    assert told["columns"]["geometry"]["crs"] is None
    shapes = shapely.from_wkb(table["geometry"].to_numpy())
    np.testing.assert_allclose(shapely.area(shapes), table["area_px2"].to_numpy(), rtol=0.01)
    labels = zarr.open_group(done / "cells.ome.zarr", mode="r")["labels"]
    planes = [np.asarray(labels[name]["0"]) for name in labels.attrs["labels"]]
    for number, area in areas.items():
        (pixels,) = {int((plane == int(number)).sum()) for plane in planes if (plane == int(number)).any()}
        inside = whole.columns["area_in_image_px2"][whole.ids == int(number)][0]
        assert pixels == pytest.approx(inside, rel=0.01) and area > 0


def test_a_window_has_the_cells_that_touch_it(done: Path) -> None:
    result = open_slide_result(done)
    every, window = result.read_window(), result.read_window(0, 250, 200, 560, columns=("area_px2",))
    touching = [
        number
        for number, mask in zip(every.ids, every.to_segmentation().masks, strict=True)
        if mask[:200, 250:560].any()
    ]
    assert set(touching) <= set(window.ids.tolist()) and len(window) < len(every)
    assert "area_px2" in window.columns and "perimeter_px" not in window.columns
    with pytest.raises(ValueError, match="has no column 'colour'"):
        result.read_window(columns=("colour",))


def test_clumps_above_the_limits_are_cut_in_the_same_way_in_every_tiling_and_their_cells_are_told(
    slide: Path, done: Path, tmp_path: Path
) -> None:
    for tile in (320, 500):
        options = SlideOptions(tile=tile, max_cells=4)
        outcome = segment_slide(slide, tmp_path / str(tile), options, statistics=KNOWN, formats=(), workers=0)
        assert outcome.cut == 1
    assert files(tmp_path / "320") == files(tmp_path / "500")
    cells, uncut = open_slide_result(tmp_path / "320").read_window(), open_slide_result(done).read_window()
    assert 0 < cells.columns["at_cut"].sum() < len(cells)
    one = cells.columns["clump"] <= uncut.columns["clump"].max()  # parts are numbered after all clumps
    other = np.isin(uncut.columns["clump"], cells.columns["clump"][one])
    np.testing.assert_array_equal(cells.seeds[one], uncut.seeds[other])
    np.testing.assert_array_equal(cells.radii[one], uncut.radii[other])
    assert not cells.columns["at_cut"][one].any()


def test_cells_of_a_cut_clump_are_those_of_the_image(slide: Path, tmp_path: Path) -> None:
    options, solver, limits = RegionOptions(), CellSolver.from_names(), Limits(cells=4)
    division = divide_image(SMEAR.image, options, options, solver, statistics=KNOWN, limits=limits)
    whole = division.solve().assemble()
    segment_slide(slide, tmp_path, SlideOptions(tile=320, max_cells=4), statistics=KNOWN, formats=(), workers=0)
    cells, measured = open_slide_result(tmp_path).read_window(), declump.measure(whole, SMEAR.image).cells
    order, other = (np.lexsort(seeds.T) for seeds in (whole.seeds, cells.seeds))
    np.testing.assert_array_equal(whole.radii[order], cells.radii[other])
    for name in ("clump", "clump_discrepancy_share", "overlap_degree", "confidence", "area_px2"):
        np.testing.assert_array_equal(measured[name][order].astype(np.float32), cells.columns[name][other])


def test_a_slide_without_cells_has_empty_results(tmp_path: Path) -> None:
    iio.imwrite(tmp_path / "empty.png", np.full((300, 400, 3), 230, np.uint8))
    outcome = segment_slide(tmp_path / "empty.png", tmp_path / "out", formats=tuple(FORMATS), workers=0)
    assert outcome.cells == 0 and len(open_slide_result(tmp_path / "out").read_window()) == 0


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (700, 2), (40, 40)])
def test_the_smallest_slides_come_to_their_end(tmp_path: Path, shape: tuple[int, int]) -> None:
    iio.imwrite(tmp_path / "small.png", np.full(shape, 200, np.uint8))
    outcome = segment_slide(tmp_path / "small.png", tmp_path / "out", formats=tuple(FORMATS), workers=0)
    assert outcome.cells == 0 and max(iio.imread(tmp_path / "out" / "overview.png").shape) < 2500


def test_a_full_disk_loses_nothing(slide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", "cells.npz")

    options = SlideOptions(tile=768)
    with monkeypatch.context() as context:
        context.setattr("declump.slides.store.write_atomically", fail)
        with pytest.raises(OSError, match="No space left on device; what is done is kept"):
            segment_slide(slide, tmp_path, options, statistics=KNOWN, formats=(), workers=0)
    assert segment_slide(slide, tmp_path, options, formats=(), workers=0, resume=True).cells == 14


def test_pixels_of_work_are_on_the_disk_before_they_are_told_as_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("declump.slides.store.sync_file", synced.append)
    store = Store(tmp_path, SlideRecord("x", "x", (300, 500), KNOWN, SlideOptions(tile=128), {}, None))
    store.create_arrays()
    store.write(NUMBERS, 6, np.full((128, 128), 7))
    store.write(NUMBERS, 7, np.zeros((128, 116)))
    (chunk,) = synced
    assert chunk.is_file() and [path for path in store.work.rglob("*") if path.parent.name == "1"] == [chunk]
    assert (store.arrays[NUMBERS][128:256, 256:384] == 7).all() and not store.arrays[NUMBERS][:128].any()


def test_the_memory_said_in_advance_follows_from_tiles_not_from_the_slide(tmp_path: Path) -> None:
    def reckon(side: int, tile: int) -> float:
        out = tmp_path / f"{side}-{tile}"
        out.mkdir()
        record = SlideRecord("slide", "content", (side, side), KNOWN, SlideOptions(tile=tile), {}, None)
        record.write(out)
        return memory_for(Store(out, record)) / 2**30

    usual = reckon(100_000, 1536)
    assert 1.4 < usual == reckon(20_000, 1536) < 1.9  # a worker took 1.4 GB with the largest window, see docs/slides.md
    assert reckon(1000, 1536) < 0.75 * usual and reckon(100_000, 4096) > 1.3 * usual
