import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from declump.io import FORMATS, read, read_contours, read_mask_stack, write_results
from declump.records.others import Others
from declump.records.segmentation import ClumpRecord, Segmentation

FILES = {"masks.tif", "contours.json", "cells.csv", "overlay.png"}


def segmentation(count: int = 3, rng: int = 0) -> Segmentation:
    """Cells that overlap, the last of them without a clump."""
    generator = np.random.default_rng(rng)
    radii = 14 + 3 * generator.random((count, 48))
    clump = np.zeros(count, dtype=np.int64)
    if count:
        radii[-1], clump[-1] = 0, -1
    seeds = generator.uniform(10, 50, (count, 2))
    clumps = (ClumpRecord(900, (500, 40, 17), "explained"), ClumpRecord(12, (12,), "no seed"))
    return Segmentation((60, 70), seeds, radii, clump, clumps)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 5), st.integers(0, 1000))
def test_round_trip(tmp_path: Path, count: int, rng: int) -> None:
    given = segmentation(count, rng)
    files = write_results(given, tmp_path / "out", overwrite=True)
    back = read_contours(files["contours.json"])
    assert back.shape == given.shape and back.clumps == given.clumps
    assert np.array_equal(back.clump, given.clump)
    np.testing.assert_allclose(back.seeds, given.seeds, atol=0.5001e-3)
    np.testing.assert_allclose(back.radii, given.radii, atol=0.5001e-3)
    assert back.radii.shape == given.radii.shape
    assert set(files) == (FILES if count else FILES - {"masks.tif"})
    assert set(contents(tmp_path / "out")) == set(files)
    if count:
        assert np.array_equal(read_mask_stack(files["masks.tif"]), back.masks)


def test_same_segmentation_same_bytes(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 256, (60, 70, 3)).astype(np.uint8)
    write_results(segmentation(), tmp_path / "a", image=image)
    write_results(segmentation(), tmp_path / "b", image=image)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    write_results(read_contours(tmp_path / "a"), tmp_path / "c", image=image)
    assert contents(tmp_path / "a") == contents(tmp_path / "c")


def test_masks_open_elsewhere(tmp_path: Path) -> None:
    path = write_results(segmentation(), tmp_path / "out")["masks.tif"]
    masks = read_contours(tmp_path / "out").masks
    assert np.array_equal(tifffile.imread(path), masks * np.uint8(255))
    with Image.open(path) as file:
        assert file.n_frames == len(masks)
        for index, mask in enumerate(masks):
            file.seek(index)
            assert file.mode == "L" and np.array_equal(np.asarray(file), mask * np.uint8(255))
    with tifffile.TiffFile(path) as file:
        assert "DateTime" not in file.pages[0].tags


def test_table(tmp_path: Path) -> None:
    path = write_results(segmentation(), tmp_path / "out")["cells.csv"]
    back = read_contours(tmp_path / "out")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert [row["clump"] for row in rows] == ["1", "1", ""]
    for row, seed, area, overlap in zip(rows, back.seeds, back.areas, back.overlap_degree, strict=True):
        assert (float(row["row_px"]), float(row["column_px"])) == tuple(seed)
        assert float(row["area_px"]) == pytest.approx(area, abs=0.051)
        assert float(row["equivalent_diameter_px"]) == pytest.approx(np.sqrt(4 * area / np.pi), abs=0.0051)
        assert float(row["overlap_degree"]) == pytest.approx(overlap, abs=0.000051)


def test_contours_are_plain_json(tmp_path: Path) -> None:
    content = json.loads(write_results(segmentation(), tmp_path / "out")["contours.json"].read_text())
    assert list(content) == ["format", "version", "shape", "rays", "nuclei", "cells", "clumps"]
    assert [cell["id"] for cell in content["cells"]] == [1, 2, 3]
    assert [cell["clump"] for cell in content["cells"]] == [1, 1, None]
    assert content["clumps"][0] == {"id": 1, "size": 900, "stopped": "explained", "history": [500, 40, 17]}


def test_overlay_is_drawn_over_the_image(tmp_path: Path) -> None:
    image = np.full((60, 70, 3), 90, np.uint8)
    with Image.open(write_results(segmentation(1), tmp_path / "out", image=image)["overlay.png"]) as picture:
        shown = np.asarray(picture)
    assert shown.shape == image.shape and (shown == 90).all(axis=2).mean() > 0.9


def test_a_folder_with_something_is_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not empty"):
        write_results(segmentation(), tmp_path)
    assert set(contents(tmp_path)) == {"mine.txt"}
    write_results(segmentation(), tmp_path, overwrite=True)
    assert set(contents(tmp_path)) == {"mine.txt", *FILES}
    write_results(segmentation(0), tmp_path, overwrite=True)
    assert set(contents(tmp_path)) == {"mine.txt", *FILES} - {"masks.tif"}
    assert (tmp_path / "mine.txt").read_text() == "mine"
    with pytest.raises(FileExistsError, match="is a file"):
        write_results(segmentation(), tmp_path / "mine.txt", overwrite=True)


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    assert set(write_results(segmentation(), tmp_path)) == set(contents(tmp_path)) == FILES


@pytest.mark.parametrize("failure", [ValueError("no"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing_behind(
    failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(segmentation(), tmp_path / "old")
    before = contents(tmp_path)

    def fail(*_arguments: object) -> None:
        raise failure

    monkeypatch.setitem(FORMATS, "csv", replace(FORMATS["csv"], write=fail))
    for folder in (tmp_path / "old", tmp_path / "new" / "deep"):
        with pytest.raises(type(failure)):
            write_results(segmentation(2), folder, overwrite=True)
    assert contents(tmp_path) == before and [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_failure_while_moving_puts_the_old_files_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_results(segmentation(), tmp_path / "out")
    before = contents(tmp_path)
    rename = Path.rename

    def fail_at_overlay(self: Path, target: Path) -> Path:
        if target == tmp_path / "out" / "overlay.png" and "draft" in self.parts:
            raise OSError(28, "No space left on device", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_at_overlay)
    with pytest.raises(OSError, match="No space left"):
        write_results(segmentation(2), tmp_path / "out", overwrite=True)
    assert contents(tmp_path) == before


def test_a_folder_in_the_place_of_a_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "masks.tif").mkdir()
    (tmp_path / "masks.tif" / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="move it away first"):
        write_results(segmentation(), tmp_path, overwrite=True)
    assert set(contents(tmp_path)) == {"masks.tif/mine.txt"}


def test_image_of_another_size(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give the image that was segmented"):
        write_results(segmentation(), tmp_path / "out", image=np.zeros((5, 5)))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "its format is 'other'"),
        ({"version": 3}, "version 3"),
        ({"rays": 7}, "reshape"),
        ({"cells": 3}, ""),
        ({"cells": [{"id": 1}]}, "it lacks 'radii'"),
        ({"nuclei": True}, "it lacks 'nucleus'"),
        ({"shape": [1, 2, 3]}, "unpack"),
        ({"shape": None}, ""),
        ({"clumps": []}, "it lacks 'clumps'"),
    ],
)
def test_contours_that_are_none(change: dict[str, object], message: str, tmp_path: Path) -> None:
    path = write_results(segmentation(), tmp_path / "out")["contours.json"]
    content = json.loads(path.read_text()) | change
    if change == {"clumps": []}:
        del content["clumps"]
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=rf"\A[^\n]*is no contours file[^\n]*{message}[^\n]*\Z"):
        read_contours(path)


def test_files_that_are_no_contours(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no contours file"):
        read_contours(tmp_path)
    for content in (b"", b"{", b"[]", b"3", b"null", b"\xff\xfe"):
        (tmp_path / "contours.json").write_bytes(content)
        with pytest.raises(ValueError, match="is no contours file"):
            read_contours(tmp_path)


def test_cells_without_records(tmp_path: Path) -> None:
    given = replace(segmentation(), clumps=())
    write_results(given, tmp_path / "out")
    assert read_contours(tmp_path / "out").clumps == ()


def test_every_format_has_its_own_file() -> None:
    assert len({entry.file for entry in FORMATS.values()}) == len(FORMATS)


def test_all_formats_give_the_same_bytes_again(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 256, (60, 70, 3)).astype(np.uint8)
    nuclei = np.zeros((60, 70), np.int32)
    nuclei[20:24, 30:37], nuclei[5:9, 5] = 1, 2
    others = Others(np.array([[7.5, 9.0]]), np.array([31.0]), np.array([0.125]), ("leukocyte",))
    given = replace(segmentation(), nuclei=nuclei, others=others)
    for name in ("a", "b"):
        files = write_results(given, tmp_path / name, image=image, formats=tuple(FORMATS))
        assert list(files) == [entry.file for entry in FORMATS.values()]
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    write_results(read(tmp_path / "a"), tmp_path / "c", image=image, formats=tuple(FORMATS))
    assert contents(tmp_path / "a") == contents(tmp_path / "c")


@pytest.mark.parametrize("count", [0, 1])
def test_all_formats_of_few_cells(tmp_path: Path, count: int) -> None:
    files = write_results(segmentation(count), tmp_path, formats=tuple(FORMATS))
    # No masks of no cell, and no others where no judge looked.
    assert len(files) == len(FORMATS) - (count == 0) - 1
    assert len(read(tmp_path)) == count


def test_chosen_formats(tmp_path: Path) -> None:
    assert set(write_results(segmentation(), tmp_path / "one", formats="coco")) == {"coco.json"}
    files = write_results(segmentation(), tmp_path / "two", formats=("geojson", "csv", "geojson"))
    assert list(files) == ["cells.geojson", "cells.csv"]
    with pytest.raises(ValueError, match=r"no format 'geo'; the formats are masks, contours, .*, ome-zarr\Z"):
        write_results(segmentation(), tmp_path / "three", formats=("csv", "geo"))
    assert not (tmp_path / "three").exists()


def test_no_file_of_an_earlier_result_stays(tmp_path: Path) -> None:
    write_results(segmentation(), tmp_path, formats=tuple(FORMATS))
    (tmp_path / "mine.txt").write_text("mine")
    write_results(segmentation(), tmp_path, formats=("ome-zarr", "csv"), overwrite=True)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"cells.ome.zarr", "cells.csv", "mine.txt"}
    write_results(segmentation(), tmp_path, formats=("csv",), overwrite=True)
    assert {path.name for path in tmp_path.iterdir()} == {"cells.csv", "mine.txt"}


def test_what_others_put_into_a_result_stays(tmp_path: Path) -> None:
    write_results(segmentation(), tmp_path, formats=("ome-zarr",))
    (tmp_path / "cells.ome.zarr" / "notes.txt").write_text("mine")
    write_results(segmentation(), tmp_path, formats=("csv",), overwrite=True)
    assert [path.name for path in (tmp_path / "cells.ome.zarr").rglob("*")] == ["notes.txt"]


def test_no_result_is_written_through_a_link(tmp_path: Path) -> None:
    """Of an earlier result only what lies in the folder itself is removed, nothing that it points to."""
    write_results(segmentation(), tmp_path / "other", formats=("ome-zarr",))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "cells.ome.zarr").symlink_to(tmp_path / "other" / "cells.ome.zarr")
    for formats in (("csv",), ("ome-zarr",)):
        with pytest.raises(FileExistsError, match="is a link"):
            write_results(segmentation(), tmp_path / "out", formats=formats, overwrite=True)
    assert (tmp_path / "other" / "cells.ome.zarr" / ".zattrs").is_file()


def test_measurements_fill_the_table(tmp_path: Path) -> None:
    columns = {"id": [1, 2, 3], "area_um2": np.array([0.5, np.nan, 2])}
    write_results(segmentation(), tmp_path, measurements=columns)
    assert (tmp_path / "cells.csv").read_text() == "id,area_um2\n1,0.5\n2,\n3,2\n"


def test_folders_are_read_by_the_file_that_holds_most(tmp_path: Path) -> None:
    write_results(segmentation(), tmp_path / "all", formats=tuple(FORMATS))
    assert len(read(tmp_path / "all")) == 3
    write_results(segmentation(), tmp_path / "some", formats=("planes", "csv"))
    assert len(read(tmp_path / "some")) == 2
    write_results(segmentation(), tmp_path / "none", formats=("csv",))
    with pytest.raises(FileNotFoundError, match="there is no contours file"):
        read(tmp_path / "none")


def test_what_is_not_read_back(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read(tmp_path / "missing.json")
    files = write_results(segmentation(), tmp_path, formats=("geojson", "ome-zarr"))
    for path in files.values():
        with pytest.raises(ValueError, match="is not to be read back"):
            read(path)
    for name in ("a.tif", "a.txt", "a.json"):
        (tmp_path / name).write_text("hello")
        with pytest.raises(ValueError, match=r"\A[^\n]*is no [^\n]*file[^\n]*\Z"):
            read(tmp_path / name)


def test_a_later_version_is_refused(tmp_path: Path) -> None:
    path = write_results(segmentation(), tmp_path, formats="coco")["coco.json"]
    document = json.loads(path.read_text())
    document["info"]["declump"]["version"] = 2
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="has version 2, this declump reads up to 1"):
        read(path)


DEEP = b"[" * 100_000


@pytest.mark.parametrize("file", [FORMATS[name].file for name in FORMATS if FORMATS[name].read])
@pytest.mark.parametrize("kind", ["empty", "cut", "deep", "noise", "zeros", "half"])
def test_a_damaged_file_is_refused_by_its_name(file: str, kind: str, tmp_path: Path) -> None:
    write_results(segmentation(), tmp_path, formats=tuple(FORMATS))
    content = (tmp_path / file).read_bytes()
    damaged = {
        "empty": b"",
        "cut": content[:-20],
        "deep": DEEP,
        "noise": content[:8] + bytes(range(256)) * 4,
        "zeros": content[: len(content) // 3] + bytes(200) + content[len(content) // 3 + 200 :],
        "half": content[: len(content) // 2],
    }
    (tmp_path / file).write_bytes(damaged[kind])
    try:
        read(tmp_path / file)
    except ValueError as error:
        assert file in str(error)
    else:
        assert kind == "zeros" and file.endswith(".tif")  # pixels of another value are pixels


@pytest.mark.filterwarnings("ignore:.*zero-size")
def test_a_stack_of_empty_pages_is_refused_by_its_name(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "label-planes.tif") as file:
        text = json.dumps({"format": "declump planes", "version": 1, "size": [0, 4], "cells": 1, "clumps": 1})
        file.write(np.zeros((0, 4), np.uint16), description=text, metadata=None, photometric="minisblack")
    with pytest.raises(ValueError, match=r"label-planes\.tif"):
        read(tmp_path / "label-planes.tif")


@pytest.mark.parametrize(
    "change", [{"shape": [10**9, 10**9]}, {"shape": 3}, {"rays": 7}, {"cells": 5}, {"version": "x"}]
)
def test_a_contours_file_that_was_made_to_do_harm_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    write_results(segmentation(), tmp_path)
    document = json.loads((tmp_path / "contours.json").read_text())
    (tmp_path / "contours.json").write_text(json.dumps(document | change))
    with pytest.raises(ValueError, match=r"contours\.json is no contours file"):
        read(tmp_path)


def test_cells_of_low_confidence_can_be_left_out(tmp_path: Path) -> None:
    given = segmentation()
    columns = {"id": np.arange(1, 4), "confidence": np.array([0.5, 0.1, np.nan])}
    write_results(given, tmp_path / "out", measurements=columns)
    assert len(read(tmp_path / "out")) == 3
    for path in (tmp_path / "out", tmp_path / "out" / "contours.json"):
        assert np.array_equal(read(path, min_confidence=0.5).seeds, read(path).seeds[:1])
    write_results(given, tmp_path / "bare", formats=("contours",))
    with pytest.raises(ValueError, match=r"cells\.csv has no column 'confidence'"):
        read(tmp_path / "bare", min_confidence=0.5)
