import json
from pathlib import Path

import numpy as np
import pytest
import zarr

from declump.io.formats import Result, ome_zarr
from support.segmentations import segmentation

IMAGE = np.random.default_rng(0).integers(0, 256, (60, 70, 3)).astype(np.uint8)


@pytest.mark.parametrize("chunk", [1024, 32])
def test_zarr_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int):
    monkeypatch.setattr(ome_zarr, "CHUNK", chunk)
    ome_zarr.write(Result(segmentation(), IMAGE), tmp_path / "cells.ome.zarr")
    group = zarr.open_group(tmp_path / "cells.ome.zarr", mode="r")
    expected = Result(segmentation()).segmentation
    assert group.metadata.zarr_format == 2
    (scales,) = group.attrs["multiscales"]
    assert [axis["name"] for axis in scales["axes"]] == ["c", "y", "x"]
    assert np.array_equal(group[scales["datasets"][0]["path"]][:], np.moveaxis(IMAGE, 2, 0))
    *names, last = group["labels"].attrs["labels"]
    assert last == "nuclei" and np.array_equal(group["labels/nuclei/0"][:], expected.nuclei)
    planes = np.stack([group[f"labels/{name}/0"][:] for name in names])
    for index, mask in enumerate(expected.masks):
        assert np.array_equal((planes == index + 1).any(axis=0), mask)


def test_metadata_of_ngff(tmp_path: Path):
    """What the schemas of OME-NGFF 0.4 ask of an image and its labels."""
    ome_zarr.write(Result(segmentation(), IMAGE), tmp_path / "cells.ome.zarr")
    label = json.loads((tmp_path / "cells.ome.zarr" / "labels" / "cells-1" / ".zattrs").read_text())
    assert label["image-label"] == {"version": "0.4", "source": {"image": "../../"}}
    (scales,) = label["multiscales"]
    assert scales["version"] == "0.4"
    assert scales["axes"] == [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]
    assert scales["datasets"] == [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0]}]}]
    array = json.loads((tmp_path / "cells.ome.zarr" / "labels" / "cells-1" / "0" / ".zarray").read_text())
    assert array["dimension_separator"] == "/" and np.dtype(array["dtype"]).kind == "u"
    channels = json.loads((tmp_path / "cells.ome.zarr" / ".zattrs").read_text())["omero"]["channels"]
    assert [channel["color"] for channel in channels] == ["FF0000", "00FF00", "0000FF"]
    assert all(set(channel["window"]) == {"min", "max", "start", "end"} for channel in channels)


@pytest.mark.parametrize("image", [None, IMAGE[..., 0], IMAGE[..., 0] > 9, IMAGE / 255, IMAGE.astype(">u2")])
def test_other_images(tmp_path: Path, image: np.ndarray | None):
    ome_zarr.write(Result(segmentation(nuclei=False), image), tmp_path / "cells.ome.zarr")
    group = zarr.open_group(tmp_path / "cells.ome.zarr", mode="r")
    assert "nuclei" not in group["labels"].attrs["labels"]
    if image is None:
        assert "multiscales" not in group.attrs and "0" not in group
    else:
        assert np.array_equal(group["0"][:], np.moveaxis(image, 2, 0) if image.ndim == 3 else image)
