"""``cells.parquet``: the table with the types of its columns, for pandas, R and databases."""

from __future__ import annotations

import json
from pathlib import Path

from declump.io.formats.parts.extras import require
from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.result import Result
from declump.io.formats.parts.tables import columns

FILE = "cells.parquet"


def write(result: Result, path: Path) -> None:
    """Write a row for each cell; what is missing is null.

    Raises
    ------
    ValueError
        If pyarrow is not installed.
    """
    parquet = require("pyarrow.parquet", "tables", "the format 'parquet'")
    pyarrow = require("pyarrow", "tables", "the format 'parquet'")
    table = pyarrow.table({name: pyarrow.array(values) for name, values in columns(result).items()})
    described = table.replace_schema_metadata({"declump": json.dumps(make_metadata(result.segmentation, "parquet"))})
    parquet.write_table(described, path, compression="zstd")
