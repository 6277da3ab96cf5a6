import json
from pathlib import Path

import numpy as np
import pytest
from pycocotools.coco import COCO

from declump import io
from declump.io.formats import Result, coco
from support.segmentations import overlap, segmentation


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "coco.json"
    coco.write(Result(segmentation()), path)
    return path


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools itself
def test_pycocotools_reads_it(written: Path):
    data = COCO(str(written))
    results = data.loadRes([{**annotation, "score": 1.0} for annotation in data.loadAnns(data.getAnnIds())])
    expected = Result(segmentation()).segmentation
    annotations = data.loadAnns(data.getAnnIds())
    assert [annotation["id"] for annotation in annotations] == [1, 2, 3, 4, 5]
    for annotation in annotations:
        mask = expected.mask(annotation["id"] - 1)
        assert np.array_equal(data.annToMask(annotation), mask)
        rows, columns = np.nonzero(mask)
        box = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
        assert annotation["bbox"] == box and annotation["area"] == mask.sum() and annotation["iscrowd"] == 0
        nucleus = data.annToMask({**annotation, "segmentation": annotation["nucleus"]})
        assert np.array_equal(nucleus, expected.nuclei == annotation["id"])
        outline = np.array(annotation["outline"][0]).reshape(-1, 2)[:, ::-1] - 0.5
        np.testing.assert_allclose(outline, expected.polygons[annotation["id"] - 1], atol=0.00051)
    assert np.array_equal(results.annToMask(results.loadAnns([1])[0]), expected.mask(0))


def test_faster_coco_eval_evaluates_it(written: Path):
    from faster_coco_eval import COCO as Faster
    from faster_coco_eval import COCOeval_faster

    truth = Faster(str(written))
    found = truth.loadRes([{**annotation, "score": 0.9} for annotation in truth.dataset["annotations"]])
    evaluation = COCOeval_faster(truth, found, iouType="segm")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    assert evaluation.stats[0] == pytest.approx(1)
    mask = truth.annToMask(truth.loadAnns([2])[0])
    assert np.array_equal(mask, Result(segmentation()).segmentation.mask(1))


def test_our_reader_of_data_sets_reads_it(written: Path):
    from PIL import Image

    from declump import datasets

    Image.fromarray(np.zeros((60, 70, 3), np.uint8)).save(written.parent / "image.png")
    (image,) = datasets.read(written)
    assert np.array_equal(image.cells, Result(segmentation()).segmentation.masks[:5])


def test_it_is_read_back(written: Path):
    expected = Result(segmentation()).segmentation
    back = io.read(written)
    assert back.shape == expected.shape and len(back) == 5
    assert np.array_equal(back.nuclei, expected.nuclei)
    assert min(map(overlap, back.masks, expected.masks[:5])) > 0.97


def test_files_of_others_are_read(written: Path):
    expected = Result(segmentation()).segmentation
    document = json.loads(written.read_text())
    del document["info"]
    for annotation in document["annotations"]:
        del annotation["nucleus"]
        polygon = annotation.pop("outline")
        if annotation["id"] % 2:
            annotation["segmentation"] = polygon
    document["annotations"].append({"id": 9, "iscrowd": 1})
    document["annotations"].append({"id": 10, "segmentation": {"counts": [4200], "size": [60, 70]}})
    other = written.with_name("theirs.json")
    other.write_text(json.dumps(document))
    back = io.read(other)
    assert back.nuclei is None and len(back) == 5
    assert min(map(overlap, back.masks, expected.masks[:5])) > 0.93


@pytest.mark.parametrize(
    "change",
    [
        {"images": []},
        {"images": 3},
        {"annotations": [{"id": 1}]},
        {"annotations": [{"id": 1, "segmentation": {"counts": "x"}}]},
        {"annotations": [{"id": 1, "segmentation": [[1, 2, 3]]}]},
        {"annotations": [None]},
    ],
)
def test_broken_files(written: Path, change: dict[str, object]):
    written.write_text(json.dumps(json.loads(written.read_text()) | change))
    with pytest.raises(ValueError, match=r"\A[^\n]*is no COCO file that declump can read[^\n]*\Z"):
        io.read(written)


def test_no_cells(tmp_path: Path):
    coco.write(Result(segmentation(0)), tmp_path / "coco.json")
    assert len(io.read(tmp_path / "coco.json")) == 0
