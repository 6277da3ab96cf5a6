"""The state of a training as one file of plain arrays, so that an interrupted one goes on to the same end."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from declump._files import atomic_file
from declump.training.schedule import Curve


def keep(
    path: Path, step: int, curve: Curve, network: nn.Module, mean: nn.Module, optimiser: torch.optim.Optimizer
) -> None:
    """Write everything training needs to go on; the file is replaced whole."""
    arrays = {f"network.{name}": value.numpy() for name, value in network.state_dict().items()}
    arrays |= {f"mean.{name}": value.numpy() for name, value in mean.state_dict().items()}
    for index, state in optimiser.state_dict()["state"].items():
        arrays |= {f"optimiser.{index}.{name}": value.numpy() for name, value in state.items()}
    with atomic_file(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        archive.writestr("training.json", json.dumps({"step": step, "curve": curve}))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def restore(path: Path, network: nn.Module, mean: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[int, Curve]:
    """Read back what :func:`keep` wrote: fills the networks and the optimiser, gives the step and the curve."""
    training, parts = _read(path)
    network.load_state_dict(parts["network"])
    mean.load_state_dict(parts["mean"])
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in parts["optimiser"].items():
        index, _, entry = name.partition(".")
        state.setdefault(int(index), {})[entry] = value
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    return training["step"], training["curve"]


def load_network(path: Path) -> dict[str, Tensor]:
    """Read the weights of the mean network of a checkpoint."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no checkpoint {path}; give the ...-training.zip of an earlier training")
    return _read(path)[1]["mean"]


def _read(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Tensor]]]:
    try:
        with zipfile.ZipFile(path) as archive:
            training = json.loads(archive.read("training.json"))
            parts: dict[str, dict[str, Tensor]] = {"network": {}, "mean": {}, "optimiser": {}}
            for entry in archive.namelist():
                if entry.endswith(".npy"):
                    part, _, name = entry.removesuffix(".npy").partition(".")
                    array = np.lib.format.read_array(io.BytesIO(archive.read(entry)), allow_pickle=False)
                    parts[part][name] = torch.from_numpy(array)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"{path} is no checkpoint of 'declump train'; remove it, or give another") from error
    return training, parts
