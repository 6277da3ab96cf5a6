"""What an output says on every processor, and its exact bytes.

Processors and libraries round otherwise in the last places: NumPy's wide loops, BLAS, libm, and most of all the 8-bit
kernels of onnxruntime. What is decided stays the same: whole numbers, masks, labels, texts, the names and the layout
of files. Radii stay the same to two steps of their stored precision, a sixteenth of a pixel.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

RADII = 2 / 16
"""Pixels by which radii may differ: two steps of their stored precision."""
RELATIVE = 0.01
"""Part of the largest magnitude of an array by which its values may differ, radii aside."""
SAMPLES = 16
"""Values stored of an array, evenly spaced."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
NOT_UNIQUE = ("modes",)
"""Of modes of equal variance only the space that they span is determined."""
COUNTED_BY_THE_WAY = ("history",)
"""Whole numbers that say how an iteration went, not what it came to."""
_TEXTS = (".json", ".csv", ".geojson", ".txt", ".html", ".svg", ".tex")


@dataclass
class Observation:
    """What is decided in an output, and its numbers.

    Attributes
    ----------
    decided : dict of str to list of bytes
        Whole numbers, masks, texts, shapes and names, by the field they stand in.
    values : list of (str, list of float, float)
        Of each array that is rounded: name, evenly spaced values, largest difference that rounding explains.
    """

    decided: dict[str, list[bytes]] = field(default_factory=dict)
    values: list[tuple[str, list[float], float]] = field(default_factory=list)

    @classmethod
    def of(cls, value: Any) -> Observation:
        """Look at any output: arrays, records, mappings, files and folders."""
        seen = cls()
        seen._add("", value)
        return seen

    def record(self) -> dict[str, Any]:
        """Return what is stored of it."""
        decided = {name: hashlib.sha256(b"\0".join(pieces)).hexdigest()[:16] for name, pieces in self.decided.items()}
        return {"decided": decided, "values": [list(entry) for entry in self.values]}

    def _decide(self, name: str, piece: bytes) -> None:
        self.decided.setdefault(name, []).append(piece)

    def _add(self, name: str, value: Any) -> None:
        if name in NOT_UNIQUE or name in COUNTED_BY_THE_WAY:
            return
        if isinstance(value, Path):
            self._add_files(value)
        elif isinstance(value, np.ndarray):
            self._add_array(name, value)
        elif is_dataclass(value):
            for part in fields(value):
                self._add(part.name, getattr(value, part.name))
        elif isinstance(value, Mapping):
            for key in sorted(value):
                self._decide(name, str(key).encode())
                self._add(str(key), value[key])
        elif isinstance(value, list | tuple):
            self._decide(name, str(len(value)).encode())
            for part in value:
                self._add(name, part)
        elif isinstance(value, float | np.floating):
            self._add_array(name, np.array([value], float))
        else:
            self._decide(name, repr(value.item() if isinstance(value, np.generic) else value).encode())

    def _add_array(self, name: str, array: np.ndarray) -> None:
        self._decide(name, f"{array.dtype.str} {array.shape}".encode())
        if array.dtype.kind == "f" or array.dtype in (np.uint8, np.uint16):  # pictures are rounded, too
            values = array.astype(float).ravel()
            self._decide(name, np.packbits(np.isfinite(values)).tobytes())
            chosen = values[np.linspace(0, values.size - 1, min(SAMPLES, values.size)).astype(int)]
            largest = float(np.max(np.abs(values), where=np.isfinite(values), initial=0))
            within = RADII if name == "radii" else RELATIVE * largest
            self.values.append((name, [_short(v) for v in chosen if math.isfinite(v)], _short(within)))
        else:
            self._decide(name, np.ascontiguousarray(array).tobytes())

    def _add_files(self, path: Path) -> None:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            self._decide("files", file.name.encode())
            if file.suffix in _TEXTS:
                text = _DIGEST.sub("digest", file.read_text(encoding="utf-8"))
                self._decide(file.name, _NUMBER.sub("#", text).encode())
                numbers = np.array([float(number) for number in _NUMBER.findall(text)])
                self._add_array(file.name, numbers)


def differences(made: dict[str, Any], stored: dict[str, Any]) -> list[str]:
    """Say how what is made differs from what is stored by more than rounding."""
    names = made["decided"].keys() | stored["decided"].keys()
    said = [f"{name}: decided otherwise" for name in names if made["decided"].get(name) != stored["decided"].get(name)]
    if said:
        return said
    for (name, now, _), (_, before, within) in zip(made["values"], stored["values"], strict=True):
        if len(now) != len(before) or any(abs(a - b) > within * 1.001 for a, b in zip(now, before, strict=True)):
            said.append(f"{name or 'values'}: {now} against {before}, within {within}")
    return said


def digest(value: Any) -> str:
    """SHA-256 of any output: arrays by their bytes, records by their fields, folders by their files."""
    state = hashlib.sha256()
    for piece in _pieces(value):
        state.update(piece)
    return state.hexdigest()


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, Path):
        files = sorted(path for path in value.rglob("*") if path.is_file()) if value.is_dir() else [value]
        for path in files:
            yield path.name.encode() + b"\0" + path.read_bytes()
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    elif is_dataclass(value):
        for part in fields(value):
            yield from _pieces(getattr(value, part.name))
    elif isinstance(value, Mapping):
        for name in sorted(value):
            yield from _pieces(str(name))
            yield from _pieces(value[name])
    elif isinstance(value, list | tuple):
        yield f"{len(value)}".encode()
        for part in value:
            yield from _pieces(part)
    else:
        yield repr(value.item() if isinstance(value, np.generic) else value).encode() + b"\0"
