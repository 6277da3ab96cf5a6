import base64
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from declump.io.formats import Result, svg
from declump.shapes import contours
from support.segmentations import segmentation

SVG = "{http://www.w3.org/2000/svg}"


def length(path: str) -> float:
    total = 0.0
    for line in path.removesuffix("Z").split("M")[1:]:
        points = np.array([point.split() for point in line.split("L")], dtype=float)
        points = np.vstack([points, points[:1]]) if path.endswith("Z") else points
        total += np.hypot(*np.diff(points, axis=0).T).sum()
    return total


def test_paths(tmp_path: Path):
    expected = Result(segmentation()).segmentation
    svg.write(Result(segmentation()), tmp_path / "overlay.svg")
    root = ElementTree.parse(tmp_path / "overlay.svg").getroot()
    assert root.get("viewBox") == "0 0 70 60" and not root.findall(f"{SVG}image")
    groups = root.findall(f"{SVG}g")
    assert [group.findtext(f"{SVG}title") for group in groups] == [f"cell {number}" for number in range(1, 7)]
    hidden = contours.hidden_edges(expected.seeds, expected.radii)
    for index, group in enumerate(groups):
        paths = {path.get("class"): path.get("d") for path in group.findall(f"{SVG}path")}
        outline = expected.radii[index].any()
        edges = np.roll(expected.polygons[index], -1, axis=0) - expected.polygons[index]
        lengths = np.hypot(*edges.T)
        wanted = {"open": ~hidden[index], "hidden": hidden[index]}
        for name, part in wanted.items():
            assert (name in paths) == bool(outline and part.any())
            if name in paths:
                np.testing.assert_allclose(length(paths[name]), lengths[part].sum(), atol=0.1)
        assert ("nucleus" in paths) == (expected.nuclei == index + 1).any()
    assert "stroke-dasharray" in root.findtext(f"{SVG}style")
    strokes = [group.get("stroke") for group in groups]
    for first in range(5):
        for second in range(first):
            if (expected.mask(first) & expected.mask(second)).any():
                assert strokes[first] != strokes[second]


def test_pixel_centres(tmp_path: Path):
    svg.write(Result(segmentation(2)), tmp_path / "overlay.svg")
    root = ElementTree.parse(tmp_path / "overlay.svg").getroot()
    first = re.match(r"M(\S+) (\S+)L", root.find(f"{SVG}g/{SVG}path").get("d"))
    row, column = Result(segmentation(2)).segmentation.polygons[0, 0]
    np.testing.assert_allclose([float(first[2]), float(first[1])], [row + 0.5, column + 0.5], atol=0.001)


def test_embedded_image(tmp_path: Path):
    image = np.random.default_rng(0).integers(0, 256, (60, 70, 3)).astype(np.uint8)
    svg.write(Result(segmentation(), image), tmp_path / "overlay.svg")
    (element,) = ElementTree.parse(tmp_path / "overlay.svg").getroot().findall(f"{SVG}image")
    data = element.get("href").removeprefix("data:image/png;base64,")
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))), image)
