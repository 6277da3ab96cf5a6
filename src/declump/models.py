"""Networks in ONNX files, opened once and run by onnxruntime."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

THREADS = "DECLUMP_THREADS"
"""Environment variable with the number of threads of a network; by default as many as there are cores."""


def model_path(model: str | Path, shipped: str) -> Path:
    """Give the path of a model, or of the one that ships with declump under a name, for "default"."""
    return Path(str(resources.files("declump") / "data" / shipped)) if str(model) == "default" else Path(model)


def read_card(model: Path) -> dict[str, Any]:
    """Read what is written in a model of what it was made from."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    card: dict[str, Any] = json.loads(session.get_modelmeta().custom_metadata_map.get("card", "{}"))
    return card


@lru_cache(maxsize=4)
def onnx_session(model: Path, kind: str, sizes: tuple[int | None, ...]) -> Any:
    """Open a network that declump wrote.

    Parameters
    ----------
    model : Path
    kind : str
        What it is called in sentences: "region model".
    sizes : tuple of int or None
        Sizes of the input ``image`` after the batch; None where any size will do.
    """
    import onnxruntime

    if not model.is_file():
        raise FileNotFoundError(f"there is no {kind} at {model}: give an .onnx file of 'declump train', or 'default'")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = _threads()
    # Waiting threads leave the cores to others.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no base class for what a damaged file leads to
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{model} is not a {kind} that declump wrote ({reason})") from error
    inputs = session.get_inputs()
    fits = len(inputs) == 1 and inputs[0].name == "image" and len(inputs[0].shape) == 1 + len(sizes)
    if not fits or any(size not in (None, given) for size, given in zip(sizes, inputs[0].shape[1:], strict=True)):
        raise ValueError(f"{model} is not a {kind} that declump wrote: its inputs and outputs are others")
    return session


def _threads() -> int:
    given = os.environ.get(THREADS, "0")
    if not (given.isascii() and given.isdecimal()):
        raise ValueError(f"the environment variable {THREADS} is a number of threads, 0 for all cores; it is {given!r}")
    return int(given)
