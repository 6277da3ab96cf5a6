import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from declump import io
from declump.io.formats import Result, contours
from support.segmentations import segmentation, segmentations


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(segmentations())
def test_everything_comes_back(tmp_path, given):
    path = tmp_path / "contours.json"
    contours.write(Result(given), path)
    back, expected = io.read(path), Result(given).segmentation
    assert (back.shape, back.clumps) == (expected.shape, expected.clumps)
    for name in ("seeds", "radii", "clump", "nuclei"):
        written, found = getattr(expected, name), getattr(back, name)
        assert (written is None and found is None) or (written.dtype == found.dtype and np.array_equal(written, found))
    text = path.read_bytes()
    contours.write(Result(back), path)
    assert path.read_bytes() == text


def test_version_1_is_read(tmp_path: Path):
    path = tmp_path / "contours.json"
    contours.write(Result(segmentation(nuclei=False)), path)
    document = json.loads(path.read_text())
    del document["nuclei"]
    path.write_text(json.dumps(document | {"version": 1}))
    back = io.read(path)
    assert back.nuclei is None and len(back) == 6
    assert np.array_equal(io.read_contours(tmp_path).radii, back.radii)


@pytest.mark.parametrize("nucleus", ["x", None, 3])
def test_broken_nuclei(tmp_path: Path, nucleus: object):
    path = tmp_path / "contours.json"
    contours.write(Result(segmentation()), path)
    document = json.loads(path.read_text())
    document["cells"][2]["nucleus"] = nucleus
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="is no contours file"):
        io.read(path)
