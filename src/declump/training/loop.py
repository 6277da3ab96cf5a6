"""The training loop of all networks: deterministic by its seed, resumable, with a validation curve."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from declump.training.checkpoint import keep, load_network, restore
from declump.training.pretrained import load_model
from declump.training.schedule import Curve, Schedule

RATE = 2e-3
FURTHER_RATE = 2e-4
"""For a network that has learnt already: what it knows is to be kept where the new images say nothing of it."""
DECAY = 1e-3
CHECK_EVERY = 250
SHORT_NUMBERS = bool(torch.cpu._is_avx512_bf16_supported())
"""Whether this machine multiplies 16-bit numbers, which takes little more than half the time."""
MEMORY = 0.998
"""The network that is kept is a running mean of the one that learns, which wavers from batch to batch."""

E = TypeVar("E")
N = TypeVar("N", bound=nn.Module)


@dataclass(frozen=True)
class Lesson(Generic[N, E]):
    """What a network is taught, and how well it learns is measured.

    Attributes
    ----------
    network : callable
        Makes the network as it begins.
    draw_batch : callable
        Given groups of examples, the number of windows and a seed, a batch: what the network sees, and what it is to
        answer.
    loss : callable
        Given the network's answers and those it is to give, one number.
    validate : callable
        Given a network and examples that it did not learn from, figures.
    short_numbers : bool
        Whether it is taught in 16-bit numbers where the machine multiplies them; nothing is gained where most
        convolutions see one channel each.
    """

    network: Callable[[], N]
    draw_batch: Callable[[Sequence[Sequence[E]], int, int], tuple[Tensor, ...]]
    loss: Callable[..., Tensor]
    validate: Callable[[N, Sequence[E]], dict[str, float]]
    short_numbers: bool = True


def fit(
    lesson: Lesson[N, E], groups: Sequence[Sequence[E]], held_out: Sequence[E], schedule: Schedule
) -> tuple[N, Curve]:
    """Teach a network.

    Parameters
    ----------
    lesson : Lesson
    groups : sequence of sequences of examples
        The windows of a batch are taken from the groups in turn, so that each counts alike; empty ones do not count.
    held_out : sequence of examples
        For the validation curve; they teach nothing.
    schedule : Schedule

    Returns
    -------
    network : nn.Module
        The running mean of the networks of all steps.
    curve : list of dict
        Losses and held-out figures by step.
    """
    torch.manual_seed(schedule.seed)
    network = lesson.network()
    filled = [group for group in groups if group]
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch leaves it out of its types
    rate = schedule.rate or (RATE if schedule.start is None else FURTHER_RATE)
    if schedule.start is not None and schedule.start.suffix == ".onnx":
        load_model(schedule.start, network, lesson.draw_batch(filled, schedule.size, schedule.seed)[0])
    elif schedule.start is not None:
        network.load_state_dict(load_network(schedule.start))
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=DECAY)
    mean = copy.deepcopy(network)
    first, steps, checkpoint = 0, schedule.steps, schedule.checkpoint
    curve: Curve = []
    if checkpoint is not None and checkpoint.exists():
        first, curve = restore(checkpoint, network, mean, optimiser)
    running = 0.0

    def answer(seen: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=SHORT_NUMBERS and lesson.short_numbers):
            scores: Tensor = network(seen.contiguous(memory_format=torch.channels_last))
        return scores.float()

    for step in range(first, steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min((step + 1) / 100, 0.5 + 0.5 * float(np.cos(np.pi * step / steps)) + 1e-3)
        network.train()
        if schedule.start is not None:
            _hold_statistics(network)
        windows, *wanted = lesson.draw_batch(filled, schedule.size, schedule.seed * 1_000_003 + step)
        cost = lesson.loss(answer(windows), *wanted)
        optimiser.zero_grad(set_to_none=True)
        cost.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        _follow(mean, network, min(MEMORY, step / (step + 10)))
        running = 0.98 * running + 0.02 * float(cost.detach()) if step else float(cost.detach())
        figures = {"step": step + 1.0, "loss": running}
        if (step + 1) % CHECK_EVERY == 0 or step + 1 == steps:
            figures |= lesson.validate(mean.eval(), held_out)
            curve.append(figures)
            if checkpoint is not None:
                keep(checkpoint, step + 1, curve, network, mean, optimiser)
        if schedule.progress:
            schedule.progress(step + 1, steps, figures)
    return mean.eval(), curve


def _hold_statistics(network: nn.Module) -> None:
    """Let normalisations use the means and spreads they have: those of a few windows of a few images waver too much."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


@torch.no_grad()
def _follow(mean: nn.Module, network: nn.Module, memory: float) -> None:
    """Draw the mean of all weights and statistics towards the present ones."""
    for kept, present in zip(mean.state_dict().values(), network.state_dict().values(), strict=True):
        if kept.is_floating_point():
            kept.lerp_(present, 1 - memory)
        else:
            kept.copy_(present)
