"""The log of edits: one line each, on the disk before it counts, never changed afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

FILE = "edits.jsonl"
_FORMAT, _VERSION = "declump edits", 1


class EditLog:
    """The edits of one image, in the order in which they were made.

    A line that a process did not live to finish is cut off when the log is opened again: it had not counted yet.

    Parameters
    ----------
    path : Path
        In a folder that exists; made if it is missing.
    origin : mapping
        What the edits are about, such as digests of image and regions. A log of something else is put aside, under a
        name with a number, and a new one begun.

    Attributes
    ----------
    records : list of dict
        Its lines, without the head.
    names : set of str
        Names of the edits in it.
    """

    def __init__(self, path: Path, origin: Mapping[str, Any]) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []
        self.names: set[str] = set()
        head = {"format": _FORMAT, "version": _VERSION, **origin}
        if path.is_file():
            kept, whole = read_log(path)
            if kept and kept[0] != head:
                _put_aside(path)
            elif kept:
                self.records = kept[1:]
                self.names = {str(record.get("id", "")) for record in self.records}
                os.truncate(path, whole)
        fresh = not path.is_file() or path.stat().st_size == 0
        self._file = path.open("ab", buffering=0)
        if fresh:
            self._write(head)

    def append(self, record: Mapping[str, Any], name: str) -> None:
        """Add an edit under the name that whoever made it gave it; when this comes back, it is on the disk."""
        named = {**record, "id": name}
        self._write(named)
        self.records.append(named)
        self.names.add(name)

    def _write(self, record: Mapping[str, Any]) -> None:
        whole = os.fstat(self._file.fileno()).st_size
        try:
            self._file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), whole)
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> EditLog:
        """Give the log itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the file."""
        self.close()


def read_log(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Read the lines of a log that are whole, the head first, and how many bytes they are.

    Raises
    ------
    ValueError
        If a line before the last is damaged, or the log is of a later version.
    """
    records: list[dict[str, Any]] = []
    content, whole = path.read_bytes(), 0
    while (end := content.find(b"\n", whole)) >= 0:
        try:
            record = json.loads(content[whole:end])
        except ValueError as error:
            raise ValueError(f"line {len(records) + 1} of {path} is damaged ({error}); move the file away") from error
        if not isinstance(record, dict):
            raise ValueError(f"line {len(records) + 1} of {path} is no edit; move the file away")
        records.append(record)
        whole = end + 1
    if records and (records[0].get("format"), records[0].get("version")) != (_FORMAT, _VERSION):
        raise ValueError(f"{path} is no log of edits that this declump reads; move it away")
    return records, whole


def _put_aside(path: Path) -> None:
    number = 1
    while (aside := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)
