"""Draws the moving picture of README and home page, docs/pictures/moving.svg, from the sample smear.

python docs/moving_picture.py

One clump of `declump.data.smear()`: the image, the nuclei that the network finds, outlines that grow out of them to
where the evolution starts, then its own steps, and the whole cells, pulled apart.
"""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
from PIL import Image

import declump
from declump.evidence.proposals import propose_rays
from declump.pictures import COLOURS
from declump_paper.pictures import record_growth

PICTURE = Path(__file__).parent / "pictures" / "moving.svg"
SECONDS = 9.0
SCENES = {"nuclei": 0.08, "grow": 0.16, "grown": 0.5, "part": 0.58, "parted": 0.72, "close": 0.94}
"""When each scene begins, in shares of the whole."""
FOR_EVER = f'dur="{SECONDS}s" repeatCount="indefinite"'
VERTICES = 60
MOMENTS = 14
MARGIN = 14
"""Pixels around everything."""
START = 16.0
"""Radius in pixels at which an outline begins to show."""
PARTING = 0.3
"""How far cells move apart, in distances from the middle of the clump."""


def main() -> None:
    """Segment the sample, and write the picture."""
    smear = declump.data.smear("pap")
    regions = declump.find_regions(smear.image)
    growth = record_growth(regions.clump, regions.seeds, evidence=propose_rays(smear.image, regions))
    origin = np.asarray(growth.clump.origin)
    seeds = growth.clump.seeds + origin
    moments = np.unique(np.rint(np.linspace(0, len(growth) - 1, MOMENTS)).astype(int))
    start = np.minimum(growth.radii[0], START)
    outlines = [[start[cell], *growth.radii[moments, cell]] for cell in range(len(seeds))]
    parted = seeds + PARTING * (seeds - seeds.mean(axis=0))
    ends = [_vertices(parted[cell], outlines[cell][-1]) for cell in range(len(seeds))]
    places = np.concatenate([*ends, *(_vertices(seeds[cell], outlines[cell][-1]) for cell in range(len(seeds)))])
    low = np.floor(places.min(axis=0) - MARGIN).astype(int)
    high = np.ceil(places.max(axis=0) + MARGIN).astype(int)
    corner, last = np.maximum(low, 0), np.minimum(high, smear.image.shape[:2])
    clear = np.median(smear.image[~regions.clump], axis=0).astype(np.uint8)
    crop = np.tile(clear, (*(high - low), 1))
    inner = smear.image[corner[0] : last[0], corner[1] : last[1]]
    crop[corner[0] - low[0] : last[0] - low[0], corner[1] - low[1] : last[1] - low[1]] = inner
    paths = [[_path(seeds[cell] - low, radii) for radii in outlines[cell]] for cell in range(len(seeds))]
    PICTURE.write_text(_svg(crop, seeds - low, paths), encoding="utf-8")
    print(f"{PICTURE}: {len(seeds)} cells, {len(moments)} moments, {PICTURE.stat().st_size / 1000:.0f} kB")


def _vertices(seed: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Few vertices of an outline, (row, column)."""
    picked = np.linspace(0, radii.size, VERTICES, endpoint=False).astype(int)
    angles = 2 * np.pi * picked / radii.size
    return seed + radii[picked, None] * np.stack([np.sin(angles), np.cos(angles)], axis=1)


def _path(seed: np.ndarray, radii: np.ndarray) -> str:
    """Outline as a closed path."""
    return "M" + " ".join(f"{column:.0f},{row:.0f}" for row, column in _vertices(seed, radii)) + "Z"


def _svg(crop: np.ndarray, seeds: np.ndarray, paths: list[list[str]]) -> str:
    height, width = crop.shape[:2]
    buffer = io.BytesIO()
    Image.fromarray(crop).save(buffer, "JPEG", quality=82)
    photo = base64.b64encode(buffer.getvalue()).decode()
    clear = "#{:02x}{:02x}{:02x}".format(*np.median(crop.reshape(-1, 3), axis=0).astype(int))
    middle = seeds.mean(axis=0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<title>A clump of overlapping cells, and each cell of it, whole</title>",
        f'<defs><image id="photo" width="{width}" height="{height}" href="data:image/jpeg;base64,{photo}"/>',
        *(f'<clipPath id="c{cell}"><path d="{steps[-1]}"/></clipPath>' for cell, steps in enumerate(paths)),
        "</defs>",
        f'<rect width="{width}" height="{height}" fill="{clear}"/>',
        f'<use href="#photo">{_fade("1;1;.0;.0;1", ("part", "parted", "close"))}</use>',
    ]
    for cell, steps in enumerate(paths):
        colour = "#{:02x}{:02x}{:02x}".format(*COLOURS[cell % len(COLOURS)])
        away = PARTING * (seeds[cell] - middle)
        move, grow = _animate_move(away[1], away[0]), _animate_outline(steps)
        lines += [
            f'<g opacity="0">{_fade("0;0;1;1;0", ("part", "part", "close"), early=0.03)}<g>{move}',
            f'<g clip-path="url(#c{cell})"><use href="#photo"/></g></g></g>',
            f'<g>{move}<path d="{steps[0]}" fill="{colour}" fill-opacity="0.14" stroke="{colour}" stroke-width="2.5" '
            f'opacity="0">{grow}{_fade("0;0;1;1;0", ("grow", "grow", "close"), early=0.04)}</path></g>',
            f'<circle cx="{seeds[cell][1]:.0f}" cy="{seeds[cell][0]:.0f}" r="6" fill="{colour}" stroke="#fff" '
            f'stroke-width="2" opacity="0">{_fade("0;0;1;1;0", ("nuclei", "nuclei", "grown"), early=0.04)}</circle>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def _fade(values: str, scenes: tuple[str, str, str], early: float = 0.0) -> str:
    """Opacity that changes at scenes: at the first it begins, and ``early`` later it has come."""
    start, come, end = (SCENES[name] for name in scenes)
    times = f"0;{start};{max(come + early, start + 0.01):.3f};{end};{min(end + 0.05, 1):.3f};1"
    values += ";" + values.rpartition(";")[2]
    return f'<animate attributeName="opacity" {FOR_EVER} values="{values}" keyTimes="{times}"/>'


def _animate_outline(steps: list[str]) -> str:
    times = np.linspace(SCENES["grow"], SCENES["grown"], len(steps))
    moments = ";".join(["0", *(f"{time:.3f}" for time in times), "1"])
    values = ";".join([steps[0], *steps, steps[-1]])
    return f'<animate attributeName="d" {FOR_EVER} values="{values}" keyTimes="{moments}"/>'


def _animate_move(across: float, down: float) -> str:
    away = f"{across:.0f},{down:.0f}"
    times = f"0;{SCENES['part']};{SCENES['parted']};{SCENES['close']};1"
    return (
        f'<animateTransform attributeName="transform" type="translate" {FOR_EVER} '
        f'values="0,0;0,0;{away};{away};0,0" keyTimes="{times}" calcMode="spline" '
        'keySplines="0 0 1 1;.4 0 .2 1;0 0 1 1;.4 0 .2 1"/>'
    )


if __name__ == "__main__":
    main()
