import csv
import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from pyarrow import parquet

from declump.io.formats import Result, csv_table, parquet_table
from declump.io.formats.parts import extras
from support.segmentations import segmentation

COLUMNS = {
    "area_um2": np.array([0.1, 1 / 3, 123456.789, -0.0, np.nan, 1e-12]),
    "count": np.arange(6, dtype=np.uint8),
    "bright": np.arange(6) % 2 == 0,
    "clump": [1, 2, None, 1, 1, 2],
    "kind": ["a", "b,c", 'd "e"', "", None, "ä"],
}


def test_csv(tmp_path: Path):
    csv_table.write(Result(segmentation(), measurements=COLUMNS), tmp_path / "cells.csv")
    text = (tmp_path / "cells.csv").read_bytes().decode()
    assert text.splitlines()[:3] == [
        "id,area_um2,count,bright,clump,kind",
        "1,0.1,0,true,1,a",
        '2,0.333333333,1,false,2,"b,c"',
    ]
    table = pandas.read_csv(tmp_path / "cells.csv")
    assert table["id"].tolist() == [1, 2, 3, 4, 5, 6] and table["bright"].tolist() == [True, False] * 3
    np.testing.assert_allclose(table["area_um2"], COLUMNS["area_um2"], rtol=1e-9)
    assert table["clump"].isna().tolist() == [False, False, True, False, False, False]
    assert ",-0," not in text and "\r" not in text


def test_parquet(tmp_path: Path):
    parquet_table.write(Result(segmentation(), measurements=COLUMNS), tmp_path / "cells.parquet")
    table = pandas.read_parquet(tmp_path / "cells.parquet")
    assert list(table) == ["id", *COLUMNS]
    np.testing.assert_array_equal(table["area_um2"], COLUMNS["area_um2"])
    assert table["bright"].tolist() == [True, False] * 3 and table["kind"][2] == 'd "e"'
    read = parquet.read_table(tmp_path / "cells.parquet")
    assert read["clump"].to_pylist() == COLUMNS["clump"] and str(read.schema.field("clump").type) == "int64"
    assert json.loads(read.schema.metadata[b"declump"])["cells"] == 6


def test_own_ids_are_kept(tmp_path: Path):
    csv_table.write(Result(segmentation(2), measurements={"area": [1, 2], "id": [7, 9]}), tmp_path / "cells.csv")
    assert (tmp_path / "cells.csv").read_text() == "area,id\n1,7\n2,9\n"


@pytest.mark.parametrize("count", [0, 6])
def test_without_measurements(tmp_path: Path, count: int):
    csv_table.write(Result(segmentation(count)), tmp_path / "cells.csv")
    parquet_table.write(Result(segmentation(count)), tmp_path / "cells.parquet")
    with (tmp_path / "cells.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    table = parquet.read_table(tmp_path / "cells.parquet")
    assert table.column_names == header and table.num_rows == len(rows) == count


def test_other_values(tmp_path: Path):
    with pytest.raises(ValueError, match="numbers and texts"):
        csv_table.write(Result(segmentation(1), measurements={"a": [{}]}), tmp_path / "cells.csv")


def test_pyarrow_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(ValueError, match=r"needs pyarrow: install it by pip install .*\[tables\]"):
        parquet_table.write(Result(segmentation()), tmp_path / "cells.parquet")


def test_no_text_is_a_formula_to_a_spreadsheet(tmp_path: Path) -> None:
    csv_table.write_table(
        {"name": ["=cmd|'/c calc'!A1", "+1", "-a", "@b", "a=b"], "value": [-1.5, -2, 0, 1, 2]}, tmp_path / "t.csv"
    )
    rows = list(csv.reader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))[1:]
    assert [name[0] for name, _ in rows] == ["'", "'", "'", "'", "a"]
    assert [value for _, value in rows] == ["-1.5", "-2", "0", "1", "2"]
