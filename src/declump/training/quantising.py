"""A network in whole numbers: its convolutions in 8 bits, for less than half the time on processors of today.

What each layer answers is laid out on 256 steps, between the least and the greatest value seen on simulated smears and
on images that are given; weights have 7 bits, so that the sums of products fit into 16 and every processor gives the
same. Layers that see the image itself, and all from the last convolution on, stay as they are: they cost little and
would lose most. The weights of that last one are fitted anew, so that from rounded features it answers as before:
rounding shifts answers a little to one side.
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
from declump.models import ORIGINAL_ENTRY, REACH_ENTRY, Model, load_onnxruntime, load_quantisation, open_model
from declump.regions.channels import to_channels
from declump.regions.lattice import find_receptive_field
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
SPARSE = 7
"""Every so many pixels the last layer is fitted to."""
RIDGE = 1e-9
"""What keeps the fit from dividing by zero, in mean squares of the features."""
CLASSES = 3
"""Answers of a region network that are scores of classes; they come first."""


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
    entry.value = json.dumps({**model.card, **_describe(model)}, sort_keys=True)
    with atomic_file(out) as draft:
        onnx.save(whole, draft)


def _describe(model: Model) -> dict[str, Any]:
    """What the card of the network in 8 bits tells beside that of the network."""
    reach = {REACH_ENTRY: find_receptive_field(model)} if _sees_images(model) else {}
    return {ORIGINAL_ENTRY: file_digest(model.path), **reach}


def _sees_images(model: Model) -> bool:
    """Whether it is declump's region network."""
    return bool(model.session.get_inputs()[0].shape[1] == 3)


def _show(model: Model, images: Iterable[AnnotatedImage | Smear]) -> Iterator[Floats]:
    """Give what a network is shown of images, (C, H, W) each."""
    shape = tuple(model.session.get_inputs()[0].shape[1:])
    layout, rng = WindowLayout.from_card(model.card), np.random.default_rng(0)
    if shape == (CHANNELS, layout.angles, layout.depths):
        for image in images:
            yield from _show_windows(image, layout, rng)
    elif _sees_images(model):
        for image in images:
            yield _show_crop(image, model.stride, rng)
    else:
        raise ValueError(f"{model.path} is no region or ray network of declump: only these are written in 8 bits")


def _show_crop(image: AnnotatedImage | Smear, stride: int, rng: np.random.Generator) -> Floats:
    channels = to_channels(image.image)
    kept = [min(side, CROP) // stride * stride for side in channels.shape[1:]]
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
    last = max(index for index, node in enumerate(graph.node) if node.op_type == "Conv")
    kept, raw = [node.name for node in graph.node[last:]], {"image"}
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
    rounded = onnx.load(written)
    _fit_last_layer(rounded, onnx.load(prepared), inputs)
    halve_last_enlargement(rounded.graph)
    return rounded


def halve_last_enlargement(graph: Any) -> None:
    """Enlarge the features of the finest level in two halves of their channels, in place; answers stay the same.

    They are enlarged in float between two layers in whole numbers, at the size of the image: most of all memory that a
    region network works with. A network that enlarges nothing is left as it is.
    """
    from onnx import helper

    enlarging = [node for node in graph.node if node.op_type == "Resize"]
    if not enlarging:
        return
    last = enlarging[-1]
    (before,) = (node for node in graph.node if last.input[0] in node.output)
    after = last
    rounding = []
    for _ in range(2):
        (after,) = (node for node in graph.node if after.output[0] in node.input)
        rounding.append(after)
    (joined,) = (node for node in graph.node if after.output[0] in node.input)
    halves = [f"{last.name}_half_{number}" for number in range(2)]
    nodes = [helper.make_node("Split", before.input[:1], halves, f"{last.name}_halves", axis=1)]
    enlarged = []
    for half in halves:
        value = half
        for node in (before, last, *rounding):
            own = type(node)()
            own.CopyFrom(node)
            own.name, own.input[0] = f"{half}_{node.op_type}_{len(nodes)}", value
            value = own.output[0] = f"{own.name}_output"
            nodes.append(own)
        enlarged.append(value)
    # Where they were: a ray network has its enlarged features before the others, a region network after them.
    place = list(joined.input).index(after.output[0])
    joined.input[:] = [*joined.input[:place], *enlarged, *joined.input[place + 1 :]]
    replaced = [before, last, *rounding]
    kept = [node for node in graph.node if node not in replaced]
    at = kept.index(joined)
    ordered = [*kept[:at], *nodes, *kept[at:]]
    del graph.node[:]
    graph.node.extend(ordered)


def _fit_last_layer(rounded: Any, whole: Any, inputs: Sequence[Floats]) -> None:
    """Fit the last convolution, of single pixels, to answer from rounded features as it did from whole ones, in place.

    A least-squares fit over the inputs, in which every class of a region network counts alike.
    """
    from onnx import numpy_helper

    last = next(node for node in reversed(rounded.graph.node) if node.op_type == "Conv")
    features, answers = (
        _answer_between(model, name, inputs) for model, name in ((rounded, last.input[0]), (whole, last.output[0]))
    )
    weights = _balance(answers)[:, None]
    design = np.hstack([features, np.ones((len(features), 1), np.float32)])
    moments, products = design.T @ (weights * design), design.T @ (weights * answers)
    fitted = np.linalg.solve(moments + RIDGE * np.trace(moments) / len(moments) * np.eye(len(moments)), products)
    for name, values in ((last.input[1], fitted[:-1].T[:, :, None, None]), (last.input[2], fitted[-1])):
        (held,) = (entry for entry in rounded.graph.initializer if entry.name == name)
        held.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(values, dtype=np.float32), name))


def _answer_between(model: Any, name: str, inputs: Sequence[Floats]) -> NDArray[np.float64]:
    """What stands at a place within a network (P, C), at every so many pixels of all inputs."""
    import onnx

    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    del shown.graph.output[:]
    shown.graph.output.add().name = name
    session = load_onnxruntime().InferenceSession(shown.SerializeToString(), providers=["CPUExecutionProvider"])
    places = [session.run(None, {"image": seen[None]})[0][0] for seen in inputs]
    return np.concatenate([np.moveaxis(place, 0, -1).reshape(-1, len(place))[::SPARSE] for place in places]).astype(
        float
    )


def _balance(answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (P,) with which every class of the answers (P, C) of a region network counts alike."""
    if answers.shape[1] < CLASSES:
        return np.ones(len(answers))
    classes = answers[:, :CLASSES].argmax(axis=1)
    return np.asarray(1 / np.bincount(classes, minlength=CLASSES)[classes])
