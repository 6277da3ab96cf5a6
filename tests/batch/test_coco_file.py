from __future__ import annotations

import json
import shutil
from pathlib import Path

from PIL import Image

from declump import batch, datasets, io, simulate
from declump.batch import Options, find_sources


def test_a_run_gives_one_coco_file_that_training_reads(tmp_path: Path) -> None:
    for index, name in enumerate(("a/first.png", "b/second.png")):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True)
        Image.fromarray(simulate.smear((300, 340), cells=5, blur=0.5, debris=0, rng=1 + index).image).save(path)
    how = Options(evidence="clump", formats=("contours", "coco"))
    out = tmp_path / "out"
    batch.run(find_sources([tmp_path / "in"]), out, how, jobs=1)
    document = json.loads((out / "coco.json").read_text())
    assert [image["file_name"] for image in document["images"]] == ["a/first.png", "b/second.png"]
    own = json.loads((out / "a" / "first" / "coco.json").read_text())
    assert own["images"][0]["file_name"] == "first.png"
    ids = [annotation["id"] for annotation in document["annotations"]]
    assert ids == list(range(1, len(ids) + 1)) and len(ids) > 1
    shutil.copy(out / "coco.json", tmp_path / "in" / "annotations.json")
    for image, name in zip(datasets.read(tmp_path / "in"), ("a/first", "b/second"), strict=True):
        found = io.read(out / name)
        assert (image.cells == found.masks[found.masks.any(axis=(1, 2))]).all()
