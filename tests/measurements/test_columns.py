from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import declump
from declump.measurements import CELL_COLUMNS, CLUMP_COLUMNS, IMAGE_COLUMNS, Column
from declump.records.segmentation import Segmentation

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def page_writer():
    specification = importlib.util.spec_from_file_location("columns_page", DOCS / "columns.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def names(columns: tuple[Column, ...], micrometres: bool) -> list[str]:
    result = []
    for column in columns:
        result.append(column.name)
        if micrometres and column.in_micrometres:
            result.append(column.in_micrometres[0])
    return result


def test_the_page_holds_the_tables_of_the_code(page_writer):
    text = (DOCS / "measurements.md").read_text(encoding="utf-8")
    for part, columns in page_writer.TABLES.items():
        stands = text.partition(f"<!-- {part} -->")[2].partition(f"<!-- end {part} -->")[0]
        assert stands.strip() == page_writer.table(columns), f"run python docs/columns.py: {part} are out of date"


@pytest.mark.parametrize("pixel_size", [None, 0.25])
def test_every_column_that_is_given_is_documented(pixel_size):
    cells = Segmentation((40, 50), np.array([[20.0, 20.0]]), np.full((1, 90), 10.0), np.array([0]))
    measured = declump.measure(cells, pixel_size=pixel_size)
    for table, columns in (
        (measured.cells, CELL_COLUMNS),
        (measured.clumps, CLUMP_COLUMNS),
        (measured.image, IMAGE_COLUMNS),
    ):
        assert list(table) == names(columns, pixel_size is not None)


@pytest.mark.parametrize("columns", [CELL_COLUMNS, CLUMP_COLUMNS, IMAGE_COLUMNS])
def test_names_are_unique_and_tell_their_unit(columns):
    every = names(columns, True)
    assert len(set(every)) == len(every)
    for column in columns:
        assert column.meaning
        assert (column.unit == "px") == column.name.endswith("_px")
        assert (column.unit == "px²") == column.name.endswith("_px2")


def test_twins_in_micrometres():
    assert Column("area_px2", "px²", "").in_micrometres == ("area_um2", 2)
    assert Column("perimeter_px", "px", "").in_micrometres == ("perimeter_um", 1)
    assert Column("solidity", "0 to 1", "").in_micrometres is None
