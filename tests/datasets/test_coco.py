from __future__ import annotations

import json
import shutil
from itertools import groupby, pairwise
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from declump import datasets
from declump.datasets import coco
from declump.io.formats.parts.coco_masks import decode_segmentation

SHAPE = (40, 60)
CELL, NUCLEUS = 1, 2
CATEGORIES = [{"id": CELL, "name": "cytoplasm"}, {"id": NUCLEUS, "name": "Nuclei"}]


def disc(row: float, column: float, radius: float, shape: tuple[int, int] = SHAPE) -> np.ndarray:
    rows, columns = np.indices(shape)
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def run_lengths(mask: np.ndarray) -> list[int]:
    counts = [] if not mask[0, 0] else [0]
    return counts + [len(list(run)) for _, run in groupby(mask.T.ravel().tolist())]


def uncompressed(mask: np.ndarray) -> dict:
    return {"counts": run_lengths(mask), "size": list(mask.shape)}


def compressed(mask: np.ndarray) -> dict:
    """COCO's text: the fewest digits of base 32 whose two's complement holds each number, the lowest first."""
    counts, text = run_lengths(mask), ""
    for index, count in enumerate(counts):
        number = count - counts[index - 2] if index > 2 else count
        digits = 1
        while not -(32**digits) // 2 <= number < 32**digits // 2:
            digits += 1
        code = number % 32**digits
        for place in range(digits):
            text += chr(48 + code // 32**place % 32 + 32 * (place < digits - 1))
    return {"counts": text, "size": list(mask.shape)}


def polygons(mask: np.ndarray) -> list[list[float]]:
    """A rectangle for each run of pixels in a row."""
    found = []
    for y, row in enumerate(mask):
        for x0, x1 in pairwise(np.flatnonzero(np.diff(np.pad(row, 1).astype(int))).tolist()):
            if row[x0]:
                found.append([x0, y, x1, y, x1, y + 1, x0, y + 1])
    return found


def annotation(number: int, segmentation: object, *, image: int = 7, category: int = CELL, **more: object) -> dict:
    return {"id": number, "image_id": image, "category_id": category, "segmentation": segmentation, **more}


def document(annotations: list[dict], names: dict[int, str] | None = None) -> dict:
    names = names or {7: "a.png"}
    images = [{"id": key, "file_name": name, "height": SHAPE[0], "width": SHAPE[1]} for key, name in names.items()]
    return {"images": images, "annotations": annotations, "categories": CATEGORIES}


def write(folder: Path, content: dict, picture: np.ndarray | None = None) -> Path:
    for entry in content["images"]:
        path = folder / entry["file_name"]
        path.parent.mkdir(exist_ok=True)
        imageio.imwrite(path, np.zeros(SHAPE, np.uint8) if picture is None else picture)
    target = folder / "annotations.json"
    target.write_text(json.dumps(content))
    return target


# Masks


def decode(segmentation: object, shape: tuple[int, int]) -> np.ndarray:
    return decode_segmentation(segmentation, shape).to_mask(shape)


@pytest.mark.parametrize(
    ("mask", "counts", "text"),
    [
        ([[0, 0], [1, 0]], [1, 1, 2], "112"),
        ([[1, 1], [1, 1]], [0, 4], "04"),
        ([[0, 0, 0], [0, 1, 0], [0, 0, 0]], [4, 1, 4], "414"),
        ([[0, 1, 0], [1, 1, 1], [1, 1, 1]], [1, 5, 1, 2], "151M"),  # 2 - 5 = -3 is 29 in five bits, chr(48 + 29)
        ([[0] * 4, [0] * 4, [0] * 4, [0] * 4, [0, 0, 0, 1]], [19, 1], "c01"),  # 19 needs a sixth bit for its sign
    ],
)
def test_run_lengths_worked_out_by_hand(mask, counts, text):
    mask = np.array(mask, bool)
    assert (run_lengths(mask), compressed(mask)["counts"]) == (counts, text)
    np.testing.assert_array_equal(decode({"counts": counts, "size": list(mask.shape)}, mask.shape), mask)
    np.testing.assert_array_equal(decode({"counts": text, "size": list(mask.shape)}, mask.shape), mask)


@given(arrays.arrays(bool, arrays.array_shapes(min_dims=2, max_dims=2, max_side=12)))
def test_all_forms_of_a_segmentation_give_the_same_mask(mask):
    for form in (uncompressed, compressed, polygons) if mask.any() else (uncompressed, compressed):
        np.testing.assert_array_equal(decode(json.loads(json.dumps(form(mask))), mask.shape), mask)


def test_long_runs_survive_compression():
    mask = disc(300, 500, 280, (700, 900))
    np.testing.assert_array_equal(decode(compressed(mask), mask.shape), mask)


def test_polygons_of_one_annotation_are_united_and_cut_at_the_image_border():
    mask = decode([[-5, -5, 3, -5, 3, 2, -5, 2], [2, 1, 99, 1, 99, 4, 2, 4]], (6, 8))
    expected = np.zeros((6, 8), bool)
    expected[:2, :3] = expected[1:4, 2:] = True
    np.testing.assert_array_equal(mask, expected)
    assert not decode([[50, 1, 60, 1, 60, 3], [1, -9, 5, -9, 5, -1]], (6, 8)).any()


# Files


def test_overlaps_are_kept_nuclei_assigned_and_crowds_passed_over(tmp_path):
    cells = np.stack([disc(20, 22, 14), disc(20, 38, 14)])
    nuclei = [disc(20, 38, 3), disc(20, 20, 3)]
    content = document(
        [
            annotation(9, compressed(cells[1])),
            annotation(3, polygons(cells[0]), iscrowd=0),
            annotation(1, uncompressed(nuclei[0]), category=NUCLEUS),
            annotation(5, polygons(nuclei[1]), category=NUCLEUS),
            annotation(4, uncompressed(np.ones(SHAPE, bool)), iscrowd=1),
        ]
    )
    colour = np.random.default_rng(0).integers(0, 256, (*SHAPE, 4), dtype=np.uint8)
    (record,) = coco.read(write(tmp_path, content, colour))
    assert record.name == "a.png"
    np.testing.assert_array_equal(record.image, colour[..., :3])
    np.testing.assert_array_equal(record.cells, cells)
    np.testing.assert_allclose(record.seeds, [[20, 20], [20, 38]])
    np.testing.assert_array_equal(record.nuclei, nuclei[::-1])


def test_images_come_by_name_one_at_a_time_and_without_nuclei_cells_are_seeded_deep_inside(tmp_path):
    cell = disc(15, 30, 9)
    content = document([annotation(1, compressed(cell), image=7)], {7: "z.png", 8: "b.png", 9: "more/a.png"})
    content["categories"] = CATEGORIES[:1]
    path = write(tmp_path, content)
    records = coco.read(path)
    (tmp_path / "z.png").write_bytes(b"no picture")
    first, second = next(records), next(records)
    assert (first.name, second.name) == ("b.png", "more/a.png")
    assert first.cells.shape == (0, *SHAPE)
    with pytest.raises(ValueError, match=r"z\.png is no image"):
        next(records)
    *_, last = coco.read(write(tmp_path, content))
    np.testing.assert_allclose(last.seeds, [[15, 30]], atol=1)
    assert not last.nucleus_labels.any()


def test_pictures_may_lie_in_another_folder(tmp_path):
    path = write(tmp_path, document([]))
    (tmp_path / "pictures").mkdir()
    shutil.move(tmp_path / "a.png", tmp_path / "pictures" / "a.png")
    with pytest.raises(FileNotFoundError, match=r"No .*a\.png, which .*annotations\.json names; .* beside the JSON"):
        coco.read(path)
    (record,) = coco.read(path, images=tmp_path / "pictures")
    assert record.image.shape == SHAPE


def test_a_folder_is_known_by_its_files(tmp_path):
    path = write(tmp_path, document([]))
    for given_path in (path, tmp_path, str(path)):
        assert [record.name for record in datasets.read(given_path)] == ["a.png"]
    other = path.rename(tmp_path / "train.json")
    assert [record.name for record in datasets.read(tmp_path)] == ["a.png"]
    (tmp_path / "valid.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="several JSON files"):
        datasets.read(tmp_path)
    frame = tmp_path / "frame000"
    (frame / "cells").mkdir(parents=True)
    for name in ("image.png", "nuclei.png"):
        imageio.imwrite(frame / name, np.zeros(SHAPE, np.uint8))
    assert [record.name for record in datasets.read(tmp_path)] == ["frame000"]
    other.rename(path)
    assert [record.name for record in datasets.read(tmp_path)] == ["a.png"]
    with pytest.raises(FileNotFoundError, match=r"no file .*none\.json"):
        datasets.read(tmp_path / "none.json")
    with pytest.raises(FileNotFoundError, match="no folder"):
        datasets.read(tmp_path / "none")


# Errors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no JSON", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("[]", "no list 'images'; a COCO file has the lists images, annotations, categories"),
        (json.dumps({"images": [], "annotations": {}}), "no list 'annotations'"),
        (json.dumps({"images": [7], "annotations": []}), "entry 0 .* of 'images' needs a whole number 'id'"),
        (json.dumps({"images": [{"id": 1}]}), "entry 0 .* of 'images' needs a text 'file_name'"),
        (json.dumps(document([]) | {"images": []}), "lists no images"),
        (json.dumps(document([], {1: "a.png", 2: "a.png"})), "twice"),
        (json.dumps(document([annotation(5, [], image=8)])), "annotation 5 has the image_id 8, which the file does"),
        (json.dumps(document([annotation(5, [], category=8)])), "annotation 5 has the category_id 8"),
        *(
            (json.dumps(document([], {1: name})), "must be relative and stay in")
            for name in ("../a.png", "more/../../a.png", "/etc/a.png", "..\\a.png", "C:\\a.png")
        ),
    ],
)
def test_files_that_are_refused_before_an_image_is_read(tmp_path, content, message):
    path = write(tmp_path, document([]))
    path.write_text(content)
    with pytest.raises(ValueError, match=rf"annotations\.json.*{message}"):
        coco.read(path)


@pytest.mark.parametrize(
    ("segmentation", "message"),
    [
        (None, "no segmentation"),
        ([], "no segmentation"),
        ("PPYo0", "no segmentation"),
        ([1, 1, 5, 1, 5, 5], "a polygon must be"),
        ([[1, 1, 5, 1]], "a polygon must be"),
        ([[1, 1, 5, 1, 5, 5, 2]], "a polygon must be"),
        ([[1, 1, 5, 1, 5, "5"]], "a polygon must be"),
        ([[1, 1, 5, 1, 5, float("nan")]], "a polygon must be"),
        ([[1, 1, 5, 1, 5, 10**400]], "a polygon must be"),
        ([[1.6, 1.6, 1.9, 1.6, 1.9, 1.9]], "covers no pixel"),
        ({"counts": [2400], "size": [60, 40]}, r"size \[60, 40\]; the image has \[40, 60\]"),
        ({"counts": [2400]}, "size None"),
        ({"counts": [2400], "size": list(SHAPE)}, "covers no pixel"),
        ({"counts": [2400, 1], "size": list(SHAPE)}, "add up to 2401; the image has 2400"),
        ({"counts": [-1, 2401], "size": list(SHAPE)}, "'counts' is broken"),
        ({"counts": [2400.0], "size": list(SHAPE)}, "'counts' is broken"),
        ({"counts": "c", "size": list(SHAPE)}, "ends in the middle of a number"),
        ({"counts": "4 4", "size": list(SHAPE)}, "no character ' '"),
        ({"counts": "414", "size": list(SHAPE)}, "add up to 9"),
        ({"size": list(SHAPE)}, "'counts' is broken"),
    ],
)
def test_segmentations_that_are_refused(tmp_path, segmentation, message):
    path = write(tmp_path, document([annotation(5, segmentation)]))
    with pytest.raises(ValueError, match=rf"annotations\.json: annotation 5 of a\.png: .*{message}"):
        next(coco.read(path))


@given(st.text(st.characters(min_codepoint=40, max_codepoint=120)))
def test_no_text_of_run_lengths_leads_to_another_error(text):
    try:
        assert decode({"counts": text, "size": [2, 3]}, (2, 3)).shape == (2, 3)
    except ValueError as error:
        assert "counts" in str(error) or "add up" in str(error)


def test_pictures_that_are_refused(tmp_path):
    path = write(tmp_path, document([]), np.zeros(SHAPE, np.uint16))
    with pytest.raises(ValueError, match=r"a\.png has uint16 pixels; save it with 8 bits a channel"):
        next(coco.read(path))
    path = write(tmp_path, document([]), np.zeros((30, 60), np.uint8))
    with pytest.raises(ValueError, match=r"a\.png has 30 rows and 60 columns, but .*json says 40 and 60"):
        next(coco.read(path))
