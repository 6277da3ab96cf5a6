"""From a trained network to the ONNX file that declump runs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from declump._files import atomic_file
from declump.models import OPSET, load_onnxruntime

AGREEMENT = 1e-4
"""Largest difference allowed between what torch and onnxruntime answer, as a share of the largest answer above 1."""


def export(
    network: nn.Module,
    path: Path,
    card: Mapping[str, Any],
    *,
    shape: tuple[int, ...],
    free: Mapping[int, str],
) -> None:
    """Write a network as ONNX with its card, once its answers are seen to be those of torch.

    Parameters
    ----------
    network : nn.Module
        One input, ``image``, one output, ``answer``. What it has to be run with is written in the card, too: its
        ``constants``, a mapping.
    path : Path
        The file is replaced whole.
    card : mapping
        What the model was made from, kept in the file as JSON.
    shape : tuple of int
        Shape of an input to try it on.
    free : mapping of int to str
        Axes of input and output that may have any length, with their names.
    """
    import onnx

    network.eval()
    example = torch.from_numpy(np.random.default_rng(0).random(shape, dtype=np.float32))
    with atomic_file(path) as draft:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs one more package
            warnings.filterwarnings("ignore", "Constant folding", UserWarning)
            torch.onnx.export(
                network,
                (example,),
                str(draft),
                input_names=["image"],
                output_names=["answer"],
                dynamic_axes={"image": dict(free), "answer": dict(free)},
                opset_version=OPSET,
                dynamo=False,
            )
        model = onnx.load(draft)
        entry = model.metadata_props.add()
        entry.key, entry.value = "card", json.dumps({**_constants(network), **card}, sort_keys=True)
        onnx.save(model, draft)
        session = load_onnxruntime().InferenceSession(str(draft), providers=["CPUExecutionProvider"])
        with torch.no_grad():
            wanted = network(example).numpy()
        difference = np.abs(session.run(None, {"image": example.numpy()})[0] - wanted).max()
        allowed = AGREEMENT * max(1.0, float(np.abs(wanted).max()))
        if not difference <= allowed:
            raise ValueError(f"torch and ONNX differ by {difference:.1e}, more than {allowed:.0e}: nothing was written")


def _constants(network: nn.Module) -> Mapping[str, Any]:
    """Entries of every card of a network."""
    constants = network.constants
    assert isinstance(constants, Mapping)
    return constants
