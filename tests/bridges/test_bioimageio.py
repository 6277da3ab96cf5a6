from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from declump.bridges.bioimageio import DESCRIPTION, export_models

NAMES = ("regions", "rays")


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "out"
    assert export_models(folder) == [folder / "regions.zip", folder / "rays.zip"]
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_package_holds_what_it_describes(packages, name):
    told = json.loads((packages / name / DESCRIPTION).read_text())
    taken, given = (np.load(packages / name / f"test_{kind}.npy") for kind in ("input", "output"))
    assert taken.dtype == given.dtype == np.float32 and np.isfinite(given).all()
    assert [len(told[kind][0]["axes"]) for kind in ("inputs", "outputs")] == [taken.ndim, given.ndim]
    with zipfile.ZipFile(packages / f"{name}.zip") as archive:
        for entry in archive.infolist():
            assert archive.read(entry) == (packages / name / entry.filename).read_bytes()
        assert DESCRIPTION in archive.namelist()


def test_the_same_models_give_the_same_bytes_and_a_full_folder_is_refused(packages, tmp_path):
    export_models(tmp_path / "again")
    for name in NAMES:
        assert (tmp_path / "again" / f"{name}.zip").read_bytes() == (packages / f"{name}.zip").read_bytes()
    with pytest.raises(FileExistsError):
        export_models(packages)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", ["{}/rdf.yaml", "{}.zip"])
def test_the_packages_pass_the_test_of_bioimageio(packages, name, source):
    core = pytest.importorskip(
        "bioimageio.core", reason="bioimageio.core is not installed (extra 'bioimageio'); make test-bridges runs this"
    )
    summary = core.test_model(str(packages / source.format(name)))
    assert summary.status == "passed", summary.format()
