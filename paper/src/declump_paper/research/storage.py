"""Files of a run: arrays with a record, written whole, the same bytes for the same content."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import write_atomically

Arrays = dict[str, NDArray[Any]]
_RECORD = "record"


def write_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], record: Mapping[str, Any], *, compressed: bool = True
) -> None:
    """Write arrays and a record as ``.npz``, whole or not at all; what is read often is better not compressed."""
    how = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    text = json.dumps(dict(record), sort_keys=True).encode()
    every = {**arrays, _RECORD: np.frombuffer(text, dtype=np.uint8)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in every.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), part.getvalue(), how)
    write_bytes(path, buffer.getvalue())


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]] | None:
    """Read what :func:`write_arrays` wrote; None if there is nothing that can be read."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        record = json.loads(arrays.pop(_RECORD).tobytes())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    return arrays, record


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)


def fingerprint(content: Any) -> str:
    """Short name that tells content apart from any other."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
