"""The training loop: deterministic by its seed, resumable, with a validation curve."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from declump.regions.training.batches import batch
from declump.regions.training.network import COARSEST, RegionNetwork
from declump.regions.training.targets import Example

RATE = 2e-3
DECAY = 1e-3
CLASS_WEIGHTS = (1.0, 1.0, 3.0)
LAYER_WEIGHTS = (0.7, 1.0, 1.5, 2.5)
CHECK_EVERY = 250
SHORT_NUMBERS = bool(torch.cpu._is_avx512_bf16_supported())
"""Whether this machine multiplies 16-bit numbers, which takes little more than half the time."""
MEMORY = 0.998
"""The network that is kept is a running mean of the one that learns, which wavers from batch to batch."""


def train(
    groups: Sequence[Sequence[Example]],
    held_out: Sequence[Example],
    *,
    steps: int,
    size: int = 8,
    seed: int = 0,
    checkpoint: Path | None = None,
    progress: Callable[[int, int, dict[str, float]], None] | None = None,
) -> tuple[RegionNetwork, list[dict[str, float]]]:
    """Train a region network.

    Parameters
    ----------
    groups : sequence of sequences of Example
        See :func:`declump.regions.training.batches.batch`.
    held_out : sequence of Example
        For the validation curve; they teach nothing.
    steps, size, seed : int
        Number of batches, windows a batch, and what all randomness follows from.
    checkpoint : Path, optional
        Written every few hundred steps; if it exists, training goes on from there to the same end.
    progress : callable, optional
        Called with the step, the number of steps and the latest figures.

    Returns
    -------
    network : RegionNetwork
    curve : list of dict
        Losses and held-out figures by step.
    """
    torch.manual_seed(seed)
    network = RegionNetwork()
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch leaves it out of its types
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    mean = copy.deepcopy(network)
    first = 0
    curve: list[dict[str, float]] = []
    if checkpoint is not None and checkpoint.exists():
        first, curve = _restore(checkpoint, network, mean, optimiser)
    running = 0.0
    for step in range(first, steps):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min((step + 1) / 100, 0.5 + 0.5 * float(np.cos(np.pi * step / steps)) + 1e-3)
        network.train()
        images, classes, nearness, layers = batch(groups, size, seed * 1_000_003 + step)
        with torch.autocast("cpu", torch.bfloat16, enabled=SHORT_NUMBERS):
            answer = network(images.contiguous(memory_format=torch.channels_last))
        loss = _loss(answer.float(), classes, nearness, layers)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        _follow(mean, network, min(MEMORY, step / (step + 10)))
        running = 0.98 * running + 0.02 * float(loss.detach()) if step else float(loss.detach())
        figures = {"step": step + 1.0, "loss": running}
        if (step + 1) % CHECK_EVERY == 0 or step + 1 == steps:
            figures |= validate(mean, held_out)
            curve.append(figures)
            if checkpoint is not None:
                _keep(checkpoint, step + 1, curve, network, mean, optimiser)
        if progress:
            progress(step + 1, steps, figures)
    return mean.eval(), curve


@torch.no_grad()
def validate(network: RegionNetwork, examples: Sequence[Example]) -> dict[str, float]:
    """Dice of cytoplasm with nuclei, Dice of nuclei, and IoU of each number of layers, over all pixels of images."""
    network.eval()
    shared, sizes = np.zeros(6), np.zeros(6)
    unions = np.zeros(4)
    for example in examples:
        image = torch.from_numpy(example.channels)[None]
        height, width = image.shape[2:]
        padding = (0, -width % COARSEST, 0, -height % COARSEST)
        answer = network(functional.pad(image, padding, mode="replicate"))[0, :, :height, :width].numpy()
        classes, layers = answer[:3].argmax(0), answer[4:].argmax(0)
        pairs = [(classes > 0, example.classes > 0), (classes == 2, example.classes == 2)]
        pairs += [(layers == count, example.layers == count) for count in range(4)]
        for index, (found, true) in enumerate(pairs):
            shared[index] += np.sum(found & true)
            sizes[index] += found.sum() + true.sum()
            if index >= 2:
                unions[index - 2] += np.sum(found | true)
    dice = 2 * shared / np.maximum(sizes, 1)
    figures = {"cytoplasm_dice": float(dice[0]), "nucleus_dice": float(dice[1])}
    return figures | {f"layer{count}_iou": float(shared[2 + count] / max(unions[count], 1)) for count in range(4)}


def _loss(answer: Tensor, classes: Tensor, nearness: Tensor, layers: Tensor) -> Tensor:
    by_class = functional.cross_entropy(answer[:, :3], classes, weight=torch.tensor(CLASS_WEIGHTS))
    by_layer = functional.cross_entropy(answer[:, 4:], layers, weight=torch.tensor(LAYER_WEIGHTS))
    near = functional.mse_loss(answer[:, 3], nearness)
    found, true = torch.softmax(answer[:, :3], 1)[:, 2], (classes == 2).float()
    overlap = 1 - (2 * (found * true).sum() + 1) / (found.sum() + true.sum() + 1)
    return by_class + 0.5 * by_layer + 10 * near + 0.5 * overlap


@torch.no_grad()
def _follow(mean: nn.Module, network: nn.Module, memory: float) -> None:
    """Draw the mean of all weights and statistics towards the present ones."""
    for kept, present in zip(mean.state_dict().values(), network.state_dict().values(), strict=True):
        if kept.is_floating_point():
            kept.lerp_(present, 1 - memory)
        else:
            kept.copy_(present)


def _keep(
    path: Path,
    step: int,
    curve: list[dict[str, float]],
    network: nn.Module,
    mean: nn.Module,
    optimiser: torch.optim.Optimizer,
) -> None:
    """Write everything training needs to go on as plain arrays; the file is replaced whole."""
    arrays = {f"network.{name}": value.numpy() for name, value in network.state_dict().items()}
    arrays |= {f"mean.{name}": value.numpy() for name, value in mean.state_dict().items()}
    for index, state in optimiser.state_dict()["state"].items():
        arrays |= {f"optimiser.{index}.{name}": value.numpy() for name, value in state.items()}
    unfinished = path.with_name(path.name + ".unfinished")
    with zipfile.ZipFile(unfinished, "w") as archive:
        archive.writestr("training.json", json.dumps({"step": step, "curve": curve}))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())
    unfinished.replace(path)


def _restore(
    path: Path, network: nn.Module, mean: nn.Module, optimiser: torch.optim.Optimizer
) -> tuple[int, list[dict[str, float]]]:
    with zipfile.ZipFile(path) as archive:
        training = json.loads(archive.read("training.json"))
        parts: dict[str, dict[str, Tensor]] = {"network": {}, "mean": {}, "optimiser": {}}
        for entry in archive.namelist():
            if entry.endswith(".npy"):
                part, _, name = entry.removesuffix(".npy").partition(".")
                array = np.lib.format.read_array(io.BytesIO(archive.read(entry)), allow_pickle=False)
                parts[part][name] = torch.from_numpy(array)
    network.load_state_dict(parts["network"])
    mean.load_state_dict(parts["mean"])
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in parts["optimiser"].items():
        index, _, entry = name.partition(".")
        state.setdefault(int(index), {})[entry] = value
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    return training["step"], training["curve"]
