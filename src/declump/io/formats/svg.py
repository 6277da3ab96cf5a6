"""``overlay.svg``: the outlines as curves, to be edited or printed at any size.

A group for each cell has its number as ``<title>``, which browsers show under the pointer, and up to three paths: the
open part of the outline, the part hidden inside other cells, dashed, and the nucleus.
"""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.planes import fewest_planes, overlaps
from declump.io.formats.parts.result import DECIMALS, Result
from declump.io.formats.parts.tracing import trace_nuclei
from declump.pictures import COLOURS, DASH, GAP, WIDTH, to_display

FILE = "overlay.svg"


def write(result: Result, path: Path) -> None:
    """Write the outlines, over the image if there is one; cells that overlap have different colours."""
    segmentation = result.segmentation
    height, width = segmentation.shape
    hidden = segmentation.hidden_edges
    planes, nuclei = fewest_planes(overlaps(segmentation.crops)), trace_nuclei(segmentation)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f"<desc>{json.dumps(make_metadata(segmentation, 'svg'))}</desc>",
        f"<style>path {{ fill: none; stroke-width: {WIDTH:g}; stroke-linejoin: round }} "
        f".hidden {{ stroke-dasharray: {DASH:g} {GAP:g} }} .nucleus {{ stroke-width: {WIDTH / 2:g} }}</style>",
    ]
    if result.image is not None:
        picture = to_display(result.image)
        data = base64.b64encode(_encode_png(picture[..., 0] if result.image.ndim == 2 else picture)).decode()
        lines.append(f'<image width="{width}" height="{height}" href="data:image/png;base64,{data}"/>')
    for index, vertices in enumerate(segmentation.polygons):
        colour = "#{:02x}{:02x}{:02x}".format(*COLOURS[planes[index] % len(COLOURS)])
        lines += [f'<g id="cell-{index + 1}" stroke="{colour}">', f"<title>cell {index + 1}</title>"]
        if segmentation.radii[index].any():
            parts = {"open": ~hidden[index], "hidden": hidden[index]}
            lines += [
                f'<path class="{name}" d="{_draw_runs(vertices, part)}"/>' for name, part in parts.items() if part.any()
            ]
        if (nucleus := nuclei[index]) is not None:
            lines.append(f'<path class="nucleus" d="{_draw_moves(nucleus)}Z"/>')
        lines.append("</g>")
    path.write_text("\n".join([*lines, "</svg>", ""]), encoding="utf-8")


def _draw_runs(vertices: NDArray[np.float64], drawn: NDArray[np.bool_]) -> str:
    """Path along the edges of a closed outline that are to be drawn, each from its vertex to the next."""
    if drawn.all():
        return _draw_moves(vertices) + "Z"
    # Begin at an edge that is not drawn, so that every run is met in one piece.
    first = int(np.flatnonzero(~drawn)[0])
    drawn, line = np.roll(drawn, -first), np.roll(vertices, -first, axis=0)
    line = np.vstack([line, line[:1]])
    starts = np.flatnonzero(drawn & ~np.roll(drawn, 1))
    ends = np.flatnonzero(drawn & ~np.roll(drawn, -1)) + 1
    return "".join(_draw_moves(line[start : end + 1]) for start, end in zip(starts, ends, strict=True))


def _draw_moves(vertices: NDArray[np.float64]) -> str:
    """Path through points (n, 2); in an SVG the corner of the first pixel is the origin."""
    each = f"%.{DECIMALS}f %.{DECIMALS}f"
    # One format for all numbers is several times as fast as one a point.
    return "M" + "L".join([each] * len(vertices)) % tuple((vertices[:, ::-1] + 0.5).ravel().tolist())


def _encode_png(picture: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
