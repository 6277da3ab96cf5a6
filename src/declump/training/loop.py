"""The training loop of all networks: deterministic by its seed, resumable, with a validation curve."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from declump.training.checkpoint import Curve, keep, load_network, restore

RATE = 2e-3
DECAY = 1e-3
CHECK_EVERY = 250
SHORT_NUMBERS = bool(torch.cpu._is_avx512_bf16_supported())
"""Whether this machine multiplies 16-bit numbers, which takes little more than half the time."""
MEMORY = 0.998
"""The network that is kept is a running mean of the one that learns, which wavers from batch to batch."""

N = TypeVar("N", bound=nn.Module)
Progress = Callable[[int, int, dict[str, float]], None]


def fit(
    network: N,
    loss: Callable[[Callable[[Tensor], Tensor], int], Tensor],
    check: Callable[[N], dict[str, float]],
    *,
    steps: int,
    start: Path | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> tuple[N, Curve]:
    """Teach a network.

    Parameters
    ----------
    network : nn.Module
        As it begins.
    loss : callable
        Given the network as a function and the number of a step, the loss of that step's batch.
    check : callable
        Given a network, figures on what it did not learn from.
    steps : int
        Number of batches.
    start : Path, optional
        Checkpoint of an earlier training whose network this one begins with.
    checkpoint : Path, optional
        Written every few hundred steps; if it exists, training goes on from there to the same end.
    progress : callable, optional
        Called with the step, the number of steps and the latest figures.

    Returns
    -------
    network : nn.Module
        The running mean of the networks of all steps.
    curve : list of dict
        Losses and held-out figures by step.
    """
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch leaves it out of its types
    if start is not None:
        network.load_state_dict(load_network(start))
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    mean = copy.deepcopy(network)
    first = 0
    curve: Curve = []
    if checkpoint is not None and checkpoint.exists():
        first, curve = restore(checkpoint, network, mean, optimiser)
    running = 0.0

    def answer(seen: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=SHORT_NUMBERS):
            told: Tensor = network(seen.contiguous(memory_format=torch.channels_last))
        return told.float()

    for step in range(first, steps):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min((step + 1) / 100, 0.5 + 0.5 * float(np.cos(np.pi * step / steps)) + 1e-3)
        network.train()
        cost = loss(answer, step)
        optimiser.zero_grad(set_to_none=True)
        cost.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        _follow(mean, network, min(MEMORY, step / (step + 10)))
        running = 0.98 * running + 0.02 * float(cost.detach()) if step else float(cost.detach())
        figures = {"step": step + 1.0, "loss": running}
        if (step + 1) % CHECK_EVERY == 0 or step + 1 == steps:
            figures |= check(mean.eval())
            curve.append(figures)
            if checkpoint is not None:
                keep(checkpoint, step + 1, curve, network, mean, optimiser)
        if progress:
            progress(step + 1, steps, figures)
    return mean.eval(), curve


@torch.no_grad()
def _follow(mean: nn.Module, network: nn.Module, memory: float) -> None:
    """Draw the mean of all weights and statistics towards the present ones."""
    for kept, present in zip(mean.state_dict().values(), network.state_dict().values(), strict=True):
        if kept.is_floating_point():
            kept.lerp_(present, 1 - memory)
        else:
            kept.copy_(present)
