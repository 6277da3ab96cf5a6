"""A network in whole numbers: its convolutions in 8 bits, for less than half the time on processors of today.

What each layer answers is laid out on 256 steps, between the least and the greatest value seen on simulated smears and
on images that are given; weights have 7 bits, so that the sums of products fit into 16 and every processor gives the
same. Layers that see the image itself, and the last one, stay as they are: they cost little and would lose most.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file, file_digest
from declump.datasets import AnnotatedImage
from declump.evidence.windows import CHANNELS, WindowLayout, sample_window
from declump.models import ORIGINAL_ENTRY, Model, load_quantisation, open_model
from declump.regions.channels import to_channels
from declump.regions.inference import COARSEST
from declump.simulate import Smear
from declump.training.rays.examples import make_example
from declump.training.smears import simulate_smears

Floats = NDArray[np.float32]

SMEARS = 12
"""Simulated smears that are looked at."""
CROP = 512
"""Sides of what a region network is shown of an image."""
CELLS = 8
"""Cells of an image that a ray network is shown."""


def quantise(path: Path, out: Path, images: Iterable[AnnotatedImage] = ()) -> None:
    """Write a region or ray network in 8 bits.

    Parameters
    ----------
    path : Path
        An ONNX file of ``declump train regions`` or ``declump train rays``.
    out : Path
        The file is replaced whole. It is used like any other; its card tells of which file it was made.
    images : iterable of AnnotatedImage
        Seen beside simulated smears; those that the network was trained on, never those it is measured on.

    Raises
    ------
    ValueError
        If the file is another network: a judge is small enough as it is.
    """
    import onnx

    model = open_model(path, "region or ray model")
    if ORIGINAL_ENTRY in model.card:
        raise ValueError(f"{path} is in 8 bits already")
    inputs = list(_show(model, chain(simulate_smears(SMEARS, 0), images)))
    with tempfile.TemporaryDirectory() as folder:
        whole = _quantise_convolutions(path, inputs, Path(folder))
    del whole.metadata_props[:]
    entry = whole.metadata_props.add()
    entry.key = "card"
    entry.value = json.dumps({**model.card, ORIGINAL_ENTRY: file_digest(path)}, sort_keys=True)
    with atomic_file(out) as draft:
        onnx.save(whole, draft)


def _show(model: Model, images: Iterable[AnnotatedImage | Smear]) -> Iterator[Floats]:
    """Give what a network is shown of images, (C, H, W) each."""
    shape = tuple(model.session.get_inputs()[0].shape[1:])
    layout, rng = WindowLayout.from_card(model.card), np.random.default_rng(0)
    if shape == (CHANNELS, layout.angles, layout.depths):
        for image in images:
            yield from _show_windows(image, layout, rng)
    elif shape[0] == 3 and not model.is_published:
        for image in images:
            yield _show_crop(image, rng)
    else:
        raise ValueError(f"{model.path} is no region or ray network of declump: only these are written in 8 bits")


def _show_crop(image: AnnotatedImage | Smear, rng: np.random.Generator) -> Floats:
    channels = to_channels(image.image)
    kept = [min(side, CROP) // COARSEST * COARSEST for side in channels.shape[1:]]
    top, left = (int(rng.integers(side - own + 1)) for side, own in zip(channels.shape[1:], kept, strict=True))
    return channels[:, top : top + kept[0], left : left + kept[1]]


def _show_windows(image: AnnotatedImage | Smear, layout: WindowLayout, rng: np.random.Generator) -> Iterator[Floats]:
    seen, view = make_example(image).views[0], layout.view(layout.nucleus_diameter)
    for index in rng.permutation(len(seen.cells))[:CELLS]:
        cell, number = int(seen.cells[index]), int(seen.numbers[index])
        yield sample_window(seen.around, seen.seeds[cell], number, np.delete(seen.seeds, cell, axis=0), view)


def _quantise_convolutions(path: Path, inputs: Sequence[Floats], folder: Path) -> Any:
    """The network with 8 bits in all layers but the first ones and the last; files go into a folder."""
    import onnx

    tools = load_quantisation()

    class Shown(tools.CalibrationDataReader):  # type: ignore[misc, name-defined]  # untyped there
        def __init__(self) -> None:
            self.left = iter(inputs)

        def get_next(self) -> dict[str, Floats] | None:
            seen = next(self.left, None)
            return None if seen is None else {"image": seen[None]}

    prepared, written = folder / "prepared.onnx", folder / "quantised.onnx"
    tools.shape_inference.quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
    graph = onnx.load(prepared).graph
    kept, raw = [next(node.name for node in reversed(graph.node) if node.op_type == "Conv")], {"image"}
    for node in graph.node:  # up to the first convolutions
        if raw & set(node.input):
            kept.append(node.name)
            raw |= set() if node.op_type == "Conv" else set(node.output)
    tools.quantize_static(
        str(prepared),
        str(written),
        Shown(),
        quant_format=tools.QuantFormat.QDQ,
        op_types_to_quantize=["Conv", "Relu", "Concat", "AveragePool", "Resize", "Slice"],
        per_channel=True,
        reduce_range=True,
        activation_type=tools.QuantType.QUInt8,
        weight_type=tools.QuantType.QInt8,
        nodes_to_exclude=kept,
    )
    return onnx.load(written)
