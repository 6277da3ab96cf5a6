"""Files for programs that run declump as a command: QuPath (by its rules), ImageJ (itself), CellProfiler."""

from __future__ import annotations

import gzip
import json
import math
import os
import shutil
import subprocess
import sys
import uuid
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import imageio.v3 as iio
import numpy as np
import pytest
from shapely.geometry import shape

import declump
from declump.errors import BROKEN

pytestmark = pytest.mark.checkout

ROOT = Path(__file__).parents[2]
INTEGRATIONS = ROOT / "integrations"
IMAGEJ = Path("/usr/share/java/ij.jar")
LIMIT = 300


@pytest.fixture(scope="module")
def smear():
    return declump.simulate.smear((260, 340), cells=5, clumps=1, rng=2)


@pytest.fixture(scope="module")
def results(smear, tmp_path_factory):
    """What the scripts run, on one image."""
    folder = tmp_path_factory.mktemp("bridge")
    iio.imwrite(folder / "region0.tif", smear.image)
    command = [sys.executable, "-m", "declump.cli", "segment", str(folder / "region0.tif"), "-o", str(folder / "out")]
    subprocess.run([*command, "--format", "geojson,geojson.gz"], check=True, capture_output=True, timeout=LIMIT)
    return folder / "out" / "region0"


def check_qupath(document: Any) -> list[str]:
    """Rules of QuPath 0.5 and 0.6 for GeoJSON objects, as their reader (``QuPathTypeAdapters``) has them."""
    faults, seen = [], set()
    if document.get("type") != "FeatureCollection":
        return ["no FeatureCollection"]
    for feature in document["features"]:
        told = feature.get("properties", {})
        if feature.get("type") != "Feature":
            faults.append("no Feature")
        try:
            seen.add(str(uuid.UUID(feature["id"])))
        except BROKEN:
            faults.append("id is no UUID")
        if told.get("objectType") not in ("cell", "annotation", "detection", "tile"):
            faults.append(f"objectType {told.get('objectType')}")
        kinds = (
            ("Polygon", "MultiPolygon") if told.get("objectType") == "cell" else ("Polygon", "MultiPolygon", "Point")
        )
        places = [feature["geometry"], *([feature["nucleusGeometry"]] if "nucleusGeometry" in feature else [])]
        faults += [
            f"geometry {place['type']}"
            for place in places
            if place["type"] not in kinds or not shape(place).is_valid or shape(place).is_empty
        ]
        if "nucleusGeometry" in told or "object_type" in told:
            faults.append("an older place of a property")
        measured = told.get("measurements")
        numbers = isinstance(measured, dict) and all(
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            for value in measured.values()
        )
        if not numbers:
            faults.append("measurements are no map of numbers")
        colour = told.get("classification", {}).get("color", [])
        if len(colour) != 3 or not all(isinstance(part, int) and 0 <= part <= 255 for part in colour):
            faults.append(f"color {colour}")
        if not isinstance(told.get("name"), str) or not isinstance(told.get("classification", {}).get("name"), str):
            faults.append("no name")
    if len(seen) != len(document["features"]):
        faults.append("ids that are not unique")
    return faults


def test_what_the_script_imports_follows_the_rules_of_qupath(results):
    document = json.loads(gzip.decompress((results / "cells.geojson.gz").read_bytes()))
    assert document == json.loads((results / "cells.geojson").read_bytes())
    assert check_qupath(document) == []
    cells = [feature for feature in document["features"] if feature["properties"]["objectType"] == "cell"]
    assert len(cells) == len(declump.io.read(results)) > 2
    assert all("nucleusGeometry" in cell and "area_px2" in cell["properties"]["measurements"] for cell in cells)


def test_the_rules_find_faults(results):
    document = json.loads((results / "cells.geojson").read_bytes())
    feature = document["features"][0]
    feature["id"], feature["properties"]["measurements"] = "1", [{"name": "area", "value": 3}]
    feature["properties"]["object_type"] = feature["properties"].pop("objectType")
    assert len(check_qupath(document)) >= 4


@pytest.mark.parametrize("name", ["declump.groovy", "import.groovy"])
def test_the_scripts_for_qupath_are_groovy(name):
    if shutil.which("groovy") is None:
        pytest.skip("groovy is not installed; make test-bridges runs this where it is")
    java = shutil.which("java")
    if java is None:
        pytest.skip("groovy is installed, but no java")
    script = (
        "def unit = new org.codehaus.groovy.control.CompilationUnit(); "
        f"unit.addSource(new File('{INTEGRATIONS / 'qupath' / name}')); "
        "unit.compile(org.codehaus.groovy.control.Phases.CONVERSION)"
    )
    # Debian's groovy looks for Java where only Debian's default package puts it.
    home = {**os.environ, "JAVA_HOME": str(Path(java).resolve().parents[1])}
    done = subprocess.run(["groovy", "-e", script], capture_output=True, text=True, timeout=LIMIT, env=home)
    assert done.returncode == 0, done.stderr


def test_the_script_for_qupath_reads_the_file_that_the_command_writes(results):
    script = (INTEGRATIONS / "qupath" / "declump.groovy").read_text()
    assert "results${number}/region${number}/cells.geojson.gz" in script and '"--format", "geojson.gz"' in script
    assert (results / "cells.geojson.gz").is_file()
    assert script.count("/path/to/environment") == 1


@pytest.mark.slow
def test_the_macro_opens_outlines_and_table_in_imagej(smear, tmp_path):
    if not IMAGEJ.is_file() or shutil.which("xvfb-run") is None:
        pytest.skip("ImageJ is not installed (Debian: imagej, xvfb); make test-bridges runs this where it is")
    iio.imwrite(tmp_path / "a smear.tif", smear.image)
    macro = (INTEGRATIONS / "fiji" / "declump.ijm").read_text()
    count = 'saveAs("Results", folder + File.separator + "opened.csv");\n'
    (tmp_path / "macro.ijm").write_text(macro + 'roiManager("deselect");\nroiManager("measure");\n' + count)
    given = f"{sys.executable};{tmp_path / 'a smear.tif'};{tmp_path / 'work'}"
    command = ["xvfb-run", "-a", "java", "-jar", str(IMAGEJ), "-batch", str(tmp_path / "macro.ijm"), given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    found = declump.io.read(tmp_path / "work" / "results" / "image")
    nuclei = sum(crop.area > 0 for crop in found.nucleus_crops)
    assert f"declump: {len(found) + nuclei} outlines" in done.stdout, done.stdout + done.stderr


@pytest.fixture
def plugin(monkeypatch):
    """The plugin file, loaded beside stand-ins: CellProfiler 4 is for Python 3.9 and cannot be installed here."""
    names = (
        "constants.measurement",
        "module.image_segmentation",
        "object",
        "setting.text",
    )
    parents = {f"cellprofiler_core.{name.rpartition('.')[0]}".rstrip(".") for name in names}
    for name in {"cellprofiler_core", *parents, *(f"cellprofiler_core.{name}" for name in names)}:
        module = ModuleType(name)
        module.__getattr__ = lambda attribute: type(attribute, (), {})  # type: ignore[method-assign]
        module.__path__ = []  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    spec = spec_from_file_location("rundeclump", INTEGRATIONS / "cellprofiler" / "rundeclump.py")
    assert spec is not None and spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_plugin_of_cellprofiler_gets_planes_and_measurements(plugin, smear):
    planes, table = plugin.segment(smear.image / 255.0, sys.executable, ["--evidence", "clump"])
    numbers = sorted(set(np.unique(planes).tolist()) - {0})
    assert numbers == list(range(1, len(table["area_px2"]) + 1)) and len(planes) > 1
    for number in numbers:
        assert np.count_nonzero(planes == number) == pytest.approx(table["area_px2"][number - 1], rel=0.6)
    together = [plugin.renumber(plane) for plane in planes]
    assert all(np.array_equal(np.unique(labels)[1:], np.arange(1, len(own) + 1)) for labels, own in together)
    assert sorted(np.concatenate([own for _, own in together]).tolist()) == numbers
    with pytest.raises(ValueError, match="no Python at"):
        plugin.segment(smear.image / 255.0, "/no/python")
    with pytest.raises(RuntimeError, match=r"(?s)declump: .*no-such"):
        plugin.segment(smear.image / 255.0, sys.executable, ["--no-such-option"])


def test_the_plugin_of_cellprofiler_keeps_to_python_3_9():
    import ast

    ast.parse((INTEGRATIONS / "cellprofiler" / "rundeclump.py").read_text(), feature_version=(3, 9))
