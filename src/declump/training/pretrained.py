"""The weights of a network read back from its ONNX file, so that a training can begin with any model.

An exported file has every normalisation folded into the convolution before it. Unfolded again it answers the same;
its means and spreads are those of what the network sees now, as a training with batches needs them.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from declump.models import open_model

WRAPPED = "network."
"""What the names of weights begin with where a file holds a network and something behind it."""


@torch.no_grad()
def load_model(path: Path, network: nn.Module, batch: Tensor) -> None:
    """Fill a network with the weights of an ONNX file of ``declump train``.

    Parameters
    ----------
    path : Path
    network : nn.Module
        Of the kind that was exported.
    batch : (B, ...) Tensor
        What the network will see: the statistics of its normalisations are taken from it.

    Raises
    ------
    ValueError
        If the file is no ONNX file, or holds another network.
    """
    named, folded = _read_weights(path)
    pairs = _find_normalised(network, batch[:1])
    own = dict(network.named_parameters())
    try:
        if len(pairs) != len(folded):
            raise ValueError(f"{len(folded)} normalised convolutions instead of {len(pairs)}")
        for (convolution, scale), (weight, bias) in zip(pairs, folded, strict=True):
            convolution.weight.copy_(torch.from_numpy(weight))
            scale.bias.copy_(torch.from_numpy(bias))
            scale.weight.fill_(1)
            _set_statistics(scale, torch.zeros(len(bias)), torch.full((len(bias),), 1 - scale.eps))
        filled = {id(part) for convolution, scale in pairs for part in (*convolution.parameters(), *scale.parameters())}
        for name, parameter in own.items():
            if id(parameter) not in filled:
                parameter.copy_(torch.from_numpy(named[name]))
    except (KeyError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} holds another network than the one to be trained: it cannot begin with it") from error
    _take_statistics(network, [scale for _, scale in pairs], batch)


def _read_weights(path: Path) -> tuple[dict[str, NDArray[Any]], list[tuple[NDArray[Any], NDArray[Any]]]]:
    """Weights by their names, and weight and bias of the convolutions that swallowed a normalisation, in order."""
    import onnx

    # A file that onnxruntime opens is whole; protobuf's own errors have no common type.
    open_model(path, "model")
    graph = onnx.load(path, load_external_data=False).graph
    arrays = {entry.name: onnx.numpy_helper.to_array(entry).copy() for entry in graph.initializer}
    named = {name.removeprefix(WRAPPED): array for name, array in arrays.items()}
    folded = [
        (arrays[node.input[1]], arrays[node.input[2]])
        for node in graph.node
        if node.op_type == "Conv" and len(node.input) == 3 and node.input[1].startswith("onnx::")
    ]
    return named, folded


def _find_normalised(network: nn.Module, example: Tensor) -> list[tuple[nn.Conv2d, nn.BatchNorm2d]]:
    """Convolutions with a normalisation right behind them, and it, in the order in which an input goes through."""
    called: list[nn.Module] = []
    hooks = [
        module.register_forward_hook(lambda module, _seen, _answer: called.append(module))
        for module in network.modules()
        if isinstance(module, nn.Conv2d | nn.BatchNorm2d)
    ]
    _answer_without_learning(network, example)
    for hook in hooks:
        hook.remove()
    return [
        (before, after)
        for before, after in pairwise(called)
        if isinstance(before, nn.Conv2d) and isinstance(after, nn.BatchNorm2d)
    ]


def _take_statistics(network: nn.Module, scales: list[nn.BatchNorm2d], batch: Tensor) -> None:
    """Put the means and spreads of what is normalised into the normalisations; what they answer stays the same."""
    seen: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def note(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        variance, mean = torch.var_mean(inputs[0], dim=(0, 2, 3), correction=0)
        seen[module] = mean, variance

    hooks = [scale.register_forward_pre_hook(note) for scale in scales]
    _answer_without_learning(network, batch)
    for hook in hooks:
        hook.remove()
    for scale in scales:
        mean, variance = seen[scale]
        scale.bias.add_(mean)
        scale.weight.copy_(torch.sqrt(variance + scale.eps))
        _set_statistics(scale, mean, variance)


def _set_statistics(scale: nn.BatchNorm2d, mean: Tensor, variance: Tensor) -> None:
    assert scale.running_mean is not None and scale.running_var is not None
    scale.running_mean.copy_(mean)
    scale.running_var.copy_(variance)


def _answer_without_learning(network: nn.Module, batch: Tensor) -> None:
    was_training = network.training
    network.eval()
    network(batch)
    network.train(was_training)
