"""A fingerprint of everything that rounds: NumPy's loops, BLAS, libm, and each network in each precision."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import declump
from declump.models import load_onnxruntime

DATA = Path(declump.__file__).parent / "data"


def fingerprint() -> str:
    """Digest of numbers that come out differently where a processor or a library rounds otherwise."""
    state = hashlib.sha256()
    for numbers in _numbers():
        state.update(np.ascontiguousarray(numbers).tobytes())
    return state.hexdigest()


def _numbers() -> Iterator[np.ndarray]:
    grid = np.linspace(-3, 3, 64 * 64).reshape(64, 64)
    for kind in (np.float64, np.float32):
        values = grid.astype(kind)
        for function in (np.exp, np.sin, np.cos, np.arctan, np.cbrt, np.tanh):
            yield function(values)
        for function in (np.log, np.sqrt, np.log1p):
            yield function(np.abs(values) + kind(0.1))
        yield np.arctan2(values, values.T)
        yield np.hypot(values, values.T)
        yield np.power(np.abs(values), kind(1.7))
        yield values @ values.T
        yield values.sum(axis=0)
    yield np.linalg.svd(grid + np.eye(64))[1]
    yield np.linalg.eigh(grid @ grid.T)[1]
    yield np.linalg.solve(grid @ grid.T + np.eye(64), grid)
    for function in (math.exp, math.sin, math.atan, math.tanh, math.cbrt, math.erf):
        yield np.array([function(value) for value in grid.ravel()[::16]])
    runtime = load_onnxruntime()
    rng = np.random.default_rng(0)
    for path in sorted(DATA.glob("*.onnx")):
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        given = {}
        for number, entry in enumerate(session.get_inputs()):
            sizes = (1, entry.shape[1] if len(entry.shape) > 1 else 1, 64, 64)[: len(entry.shape)]
            shape = [size if isinstance(size, int) and size > 0 else sizes[i] for i, size in enumerate(entry.shape)]
            given[entry.name] = rng.random([1 if not isinstance(n, int) else n for n in shape], dtype=np.float32)
            assert number < 4
        yield from session.run(None, given)
