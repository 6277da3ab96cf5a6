from __future__ import annotations

from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest
from typer.testing import CliRunner

from declump.cli.app import app
from declump.cli.split import read_points


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    rows, columns = np.indices((100, 140))
    two = (np.hypot(rows - 50, columns - 48) < 30) | (np.hypot(rows - 50, columns - 92) < 30)
    imageio.imwrite(tmp_path / "mask.png", np.where(two, 255, 0).astype(np.uint8))
    return tmp_path / "mask.png"


def run(*arguments: object):
    return CliRunner().invoke(app, ["split", *map(str, arguments)])


def test_a_mask_becomes_a_folder_of_results(mask, tmp_path):
    result = run(mask, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("2 objects in 1 clump")
    assert {"masks.tif", "contours.json", "cells.csv", "overlay.png"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert run(mask, "-o", tmp_path / "out").exit_code == 1
    assert run(mask, "-o", tmp_path / "out", "--overwrite").exit_code == 0


def test_seeds_and_prior_may_be_given(mask, tmp_path):
    (tmp_path / "seeds.csv").write_text("row,column\n50,48\n50,92\n50,60\n")
    result = run(
        mask, "-o", tmp_path / "out", "--seeds", tmp_path / "seeds.csv", "--prior", "cytoplasm", "--scale", 0.5
    )
    assert result.exit_code == 0, result.output
    assert result.output.startswith("3 objects")


def test_points_are_read_with_or_without_names(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("1,2\n\n3.5; 4\n")
    assert read_points(path).tolist() == [[1, 2], [3.5, 4]]
    path.write_text("\ufeffrow,column\n")
    assert read_points(path).shape == (0, 2)
    path.write_text("1,2\nx,3\n")
    with pytest.raises(ValueError, match=r"line 2 of .* is 'x,3'"):
        read_points(path)
    with pytest.raises(FileNotFoundError, match="row and column"):
        read_points(tmp_path / "none.csv")


def test_an_empty_mask_is_refused(tmp_path):
    imageio.imwrite(tmp_path / "empty.png", np.zeros((9, 9), np.uint8))
    result = run(tmp_path / "empty.png", "-o", tmp_path / "out")
    assert result.exit_code == 1 and "no object to find" in str(result.exception)


def test_a_network_may_find_the_seeds(tmp_path):
    from declump import simulate

    smear = simulate.smear((128, 160), cells=3, stain="grey", rng=2)
    imageio.imwrite(tmp_path / "image.png", smear.image)
    imageio.imwrite(tmp_path / "nuclei.png", np.where(smear.nuclei.any(axis=0), 255, 0).astype(np.uint8))
    options = ("--image", tmp_path / "image.png", "--model", "default", "--prior", "nucleus")
    result = run(tmp_path / "nuclei.png", "-o", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("3 objects")


def test_a_model_and_an_image_go_together_and_not_with_seeds(mask, tmp_path):
    for options in (
        ("--model", "default"),
        ("--model", "default", "--image", mask, "--seeds", mask),
    ):
        result = run(mask, "-o", tmp_path / "out", *options)
        assert result.exit_code == 2 and not (tmp_path / "out").exists()


def test_many_masks_get_a_folder_each_and_one_that_fails_stops_no_other(mask, tmp_path):
    folder = tmp_path / "masks"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes(mask.read_bytes())
    imageio.imwrite(folder / "empty.png", np.zeros((9, 9), np.uint8))
    result = run(folder, "-o", tmp_path / "out", "--format", "csv,geojson")
    assert result.exit_code == 1 and "1 of 3 masks failed" in result.output
    assert result.output.count("2 objects in 1 clump;") == 2
    assert {path.name for path in (tmp_path / "out" / "a").iterdir()} == {"cells.csv", "cells.geojson", "contours.json"}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a", "b"]


def test_an_image_alone_is_drawn_over(mask, tmp_path):
    imageio.imwrite(tmp_path / "red.png", np.full((100, 140, 3), (200, 0, 0), np.uint8))
    assert run(mask, "-o", tmp_path / "out", "--image", tmp_path / "red.png").exit_code == 0
    assert (imageio.imread(tmp_path / "out" / "overlay.png")[0, 0] == (200, 0, 0)).all()


def test_points_of_other_tables_are_found_by_their_names(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("id,x,y,area\n1,48,50,900\n2,92,51,800\n")
    assert read_points(path).tolist() == [[50, 48], [51, 92]]
    path.write_text("id,row_px,column_px\n1,50,48\n")
    assert read_points(path).tolist() == [[50, 48]]
