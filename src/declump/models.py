"""Networks in ONNX files, opened once and run by onnxruntime."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from declump._files import file_digest

if TYPE_CHECKING:  # the command line tells of models without loading numpy
    import numpy as np
    from numpy.typing import NDArray

THREADS = "DECLUMP_THREADS"
"""Environment variable with the number of threads of a network; by default as many as there are cores."""
DIAMETER_ENTRY = "nucleus diameter"
"""Entry of a card: usual diameter in pixels of a nucleus in the images that the model was trained on."""
NUCLEUS_DIAMETER = 22.0
"""What a card without that entry means."""
OPSET = 17
"""Version of the operators that models are written with."""
ORIGINAL_ENTRY = "8 bits of"
"""Entry of a card of a network in 8 bits: digest of the file that it was made of."""
REACH_ENTRY = "receptive field"
"""Entry of a card of a region network: from how far the border of an image changes its answers, in pixels.
Of a network in 8 bits measured before the numbers were rounded, which may hide how far it sees."""
ARCHITECTURE_ENTRY = "architecture"
"""Entry of a card of a region network: which of the networks it is, where there are several."""
SMEAR = "smear"
"""Architecture of the network whose encoder saw natural images: clump, nuclei, other objects and layers."""


@dataclass(frozen=True, eq=False)
class Model:
    """An open network.

    Attributes
    ----------
    path : Path
    kind : str
        What it is called in sentences: "region model".
    card : mapping
        What is written in the file: what the model was made from, and what it has to be run with.
    session : onnxruntime.InferenceSession
    """

    path: Path
    kind: str
    card: Mapping[str, Any]
    session: Any

    @property
    def nucleus_diameter(self) -> float:
        """Usual diameter in pixels of a nucleus in the images that it was trained on."""
        return float(self.card.get(DIAMETER_ENTRY, NUCLEUS_DIAMETER))

    @property
    def is_smear(self) -> bool:
        """Whether it is the region network whose encoder saw natural images."""
        return self.card.get(ARCHITECTURE_ENTRY) == SMEAR

    @property
    def stride(self) -> int:
        """Sides of what a region network sees are multiples of so many pixels."""
        return 32 if self.is_smear else 16

    def check_input(self, *sizes: int | None) -> None:
        """Refuse to be run with an input ``image`` of other sizes after the batch; None where any size will do."""
        inputs = self.session.get_inputs()
        fits = len(inputs) == 1 and inputs[0].name == "image" and len(inputs[0].shape) == 1 + len(sizes)
        if not fits or any(size not in (None, own) for size, own in zip(sizes, inputs[0].shape[1:], strict=True)):
            raise ValueError(f"{self.path} is not a {self.kind} that declump wrote: its inputs and outputs are others")

    def run(self, image: NDArray[np.float32], *, give_back: bool = False) -> NDArray[np.float32]:
        """Give the network's output for one input, without the axis of the batch; its memory is given back if asked.

        That takes time for the next input, which has to ask for it anew.
        """
        options = load_onnxruntime().RunOptions() if give_back else None
        if options is not None:
            options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        (output,) = self.session.run(None, {"image": image[None]}, options)
        answer: NDArray[np.float32] = output[0]
        return answer


def load_onnxruntime() -> Any:
    """Import onnxruntime, which nothing else in declump does.

    Left to itself it writes an identification of the computer into the user's cache as it is imported, and looks up a
    host to report to ten seconds later. Only this variable, set before the import, stops both.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime


def load_quantisation() -> Any:
    """Import the part of onnxruntime that writes networks in 8 bits; it needs onnx."""
    load_onnxruntime()
    import onnxruntime.quantization.shape_inference

    return onnxruntime.quantization


def model_path(model: str | Path, shipped: str) -> Path:
    """Give the path of a model, or of the one that ships with declump under a name, for "default"."""
    return Path(str(resources.files("declump") / "data" / shipped)) if str(model) == "default" else Path(model)


def read_card(model: Path) -> dict[str, Any]:
    """Read what is written in a model of what it was made from, and of what it has to be run with."""
    return _card(load_onnxruntime().InferenceSession(str(model), providers=["CPUExecutionProvider"]))


def open_model(model: Path, kind: str) -> Model:
    """Open a network that declump wrote; once, as long as what is in the file stays the same.

    Parameters
    ----------
    model : Path
    kind : str
        What it is called in sentences: "region model".
    """
    if not model.is_file():
        raise FileNotFoundError(f"there is no {kind} at {model}: give an .onnx file of 'declump train', or 'default'")
    return _open(model, kind, file_digest(model))


@lru_cache(maxsize=4)
def _open(model: Path, kind: str, _content: str) -> Model:
    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = _threads()
    # Else a second input of a size takes as much memory again, to save no time.
    options.enable_mem_pattern = False
    # Waiting threads leave the cores to others.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        card = _card(session)
    except Exception as error:  # onnxruntime has no base class for what a damaged file leads to
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{model} is not a {kind} that declump wrote ({reason})") from error
    return Model(model, kind, card, session)


def _card(session: Any) -> dict[str, Any]:
    card: dict[str, Any] = json.loads(session.get_modelmeta().custom_metadata_map.get("card", "{}"))
    return card


def _threads() -> int:
    given = os.environ.get(THREADS, "0")
    if not (given.isascii() and given.isdecimal()):
        raise ValueError(f"the environment variable {THREADS} is a number of threads, 0 for all cores; it is {given!r}")
    return int(given)
