"""The region network at work: a whole image in one pass, or in overlapping tiles without seams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.models import Model, model_path, open_model
from declump.regions.resizing import resize_planes

Place = tuple[slice, slice]

CLASSES = ("background", "cytoplasm", "nucleus")
"""What a pixel may be."""
KINDS = ("nucleus", "leukocyte", "red cell", "other")
"""What may lie at a centre."""
GRADES = ("abnormal", "high grade")
"""What the nucleus at a centre may look like."""
FINE, CENTRES, LAYERS = 2, len(KINDS) + len(GRADES), 4
"""Scores that the smear network gives of a pixel: of clump and nucleus; of centres; of the number of layers."""
SHIPPED = "smear.onnx"
"""The network that serves by default."""
WHOLE = 1408
"""An image with no longer side is looked at in one pass."""
TILE = 1152
"""Sides of the tiles of a larger one; smaller, because its maps take memory, too."""
MARGIN = 256
"""Tiles share this much on each side; only their inner part is kept, so that no seam shows."""


def open_region_model(model: str | Path) -> Model:
    """Open ``"default"``, the network that ships with declump, or an ONNX file of ``declump train regions``."""
    opened = open_model(model_path(model, SHIPPED), "region model")
    opened.check_input(3, None, None)
    count = opened.session.get_outputs()[0].shape[1]
    expected = FINE + CENTRES + 1 + LAYERS if opened.is_smear else len(CLASSES) + 1 + LAYERS
    if count != expected:
        raise ValueError(f"{opened.path} must answer with {expected} maps, as a region model does, got {count}")
    return opened


@dataclass(frozen=True, eq=False)
class Maps:
    """What the network says of every pixel.

    Attributes
    ----------
    classes : (3, H, W) float32
        Probabilities of background, cytoplasm and nucleus.
    centre_map : (H, W) float32
        1 at the centre of a nucleus, falling to 0 at one and a half of its radii.
    layers : (4, H, W) float32
        Probabilities of 0, 1, 2, 3 or more cells.
    centres : (6, H, W) float32, optional
        Peaks at the centres of nuclei, leukocytes, red cells and other objects; of abnormal nuclei, and of those of
        high grade. Only the smear network tells them.
    """

    classes: NDArray[np.float32]
    centre_map: NDArray[np.float32]
    layers: NDArray[np.float32]
    centres: NDArray[np.float32] | None = None

    def resized(self, shape: tuple[int, ...]) -> Maps:
        """Give the maps at another height and width; themselves if it is theirs."""
        if self.classes.shape[1:] == shape:
            return self
        return self.change(lambda planes: resize_planes(planes, shape))

    def change(self, change: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> Maps:
        """Return the maps with all planes (P, H, W) changed alike."""
        return Maps(
            change(self.classes),
            change(self.centre_map[None])[0],
            change(self.layers),
            None if self.centres is None else change(self.centres),
        )


def region_maps(channels: NDArray[np.float32], model: Model) -> Maps:
    """Let the network look at an image.

    Parameters
    ----------
    channels : (3, H, W)
        The image's :func:`declump.regions.channels.to_channels`, at the resolution the network was trained at.
    model : Model
        Of ``declump train regions``; see :func:`open_region_model`.
    """
    count = CENTRES if model.is_smear else 0
    classes, centre_map, layers, centres = (
        np.empty((planes, *channels.shape[1:]), np.float32) for planes in (len(CLASSES), 1, LAYERS, count)
    )
    # Straight to where it belongs: maps of a large image are held once.
    for output, place in run_in_tiles(channels, model):
        if model.is_smear:
            _sigmoid(output[: FINE + CENTRES])
            clump, nucleus = output[:FINE]
            # A nucleus is part of the clump; free leukocytes are no nucleus of a cell.
            placed = classes[:, *place]
            np.minimum(nucleus, clump, out=placed[2])
            np.subtract(clump, placed[2], out=placed[1])
            np.subtract(1, clump, out=placed[0])
            centres[:, *place] = output[FINE : FINE + CENTRES]
            output = output[FINE + CENTRES :]
        else:
            classes[:, *place] = softmax(output[: len(CLASSES)])
            output = output[len(CLASSES) :]
        np.clip(output[:1], 0, 1, out=centre_map[:, *place])
        layers[:, *place] = softmax(output[1:])
    return Maps(classes, centre_map[0], layers, centres if model.is_smear else None)


def run_in_tiles(channels: NDArray[np.float32], model: Model) -> Iterator[tuple[NDArray[np.float32], Place]]:
    """Run a network on the tiles of an image: outputs (C, h, w), and where each belongs in the image."""
    height, width = channels.shape[1:]
    tiles = [(rows, columns) for rows in _tiles(height) for columns in _tiles(width)]
    for number, ((rows, inner_rows), (columns, inner_columns)) in enumerate(tiles, start=1):
        tile = np.ascontiguousarray(channels[:, rows, columns])
        padding = [(0, 0), (0, -tile.shape[1] % model.stride), (0, -tile.shape[2] % model.stride)]
        seen = np.pad(tile, padding, mode="edge") if any(max(pair) for pair in padding) else tile
        # Of an image in tiles, what the network worked with is given back at last: the image itself takes much.
        output = model.run(seen, give_back=number == len(tiles) > 1)
        inner = (
            slice(inner_rows.start - rows.start, inner_rows.stop - rows.start),
            slice(inner_columns.start - columns.start, inner_columns.stop - columns.start),
        )
        yield output[:, *inner], (inner_rows, inner_columns)


def _tiles(extent: int) -> Iterator[tuple[slice, slice]]:
    """Stretches of an axis to look at, and the inner part of each that is kept."""
    if extent <= WHOLE:
        yield slice(0, extent), slice(0, extent)
        return
    step = TILE - 2 * MARGIN
    for first in range(0, extent - 2 * MARGIN, step):
        start, stop = first, min(first + TILE, extent)
        inner_start = start + MARGIN if start else 0
        inner_stop = extent if stop == extent else first + step + MARGIN
        yield slice(start, stop), slice(inner_start, inner_stop)
        if stop == extent:
            return


def _sigmoid(scores: NDArray[np.float32]) -> None:
    """Turn scores into probabilities, in place."""
    np.negative(scores, out=scores)
    np.clip(scores, -60, 60, out=scores)
    np.exp(scores, out=scores)
    scores += 1
    np.reciprocal(scores, out=scores)


def softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn scores (C, H, W) into probabilities, in place."""
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=0)
    return scores
