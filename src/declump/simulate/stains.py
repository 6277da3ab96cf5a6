"""Colours of the simulated stains, as optical density per channel with mean 1."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from declump.simulate.shapes import CellShape, Floats

Hue = tuple[float, float, float]

Stain = Literal["grey", "pap", "he", "pap-violet"]
STAINS: tuple[Stain, ...] = get_args(Stain)


@dataclass(frozen=True)
class Staining:
    """How one slide took the stain; densities are natural logarithms, C channels.

    ``cytoplasm`` (N, 2, C) holds the two densities between which each cell varies, ``nuclei`` (N, C) that of each
    nucleus, ``debris`` (C,) that of bacteria and leukocytes, ``saturation`` the density that piled cytoplasm
    approaches, ``background`` (C,) the clear field in grey levels.
    """

    cytoplasm: Floats
    nuclei: Floats
    debris: Floats
    saturation: float
    background: Floats


# Density per channel (red, green, blue): the counterstains of Papanicolaou's EA and orange G, and haematoxylin.
_BLUE_GREEN = (1.62, 0.77, 0.61)
_PINK = (0.45, 1.48, 1.07)
_LILAC = (1.08, 1.20, 0.72)
_ORANGE = (0.35, 0.95, 1.70)
_PAP_NUCLEUS = (1.20, 1.18, 0.62)
# As 15 real Pap frames have them: three groups of hues of cytoplasm, and nuclei (python benchmarks/stains.py).
_VIOLET = (1.27, 1.34, 0.39)
_MAGENTA = (0.49, 2.12, 0.39)
_BLUE_GREY = (1.10, 1.08, 0.82)
_VIOLET_NUCLEUS = (1.14, 1.48, 0.38)
_EOSIN = (0.30, 1.65, 1.05)
_EOSIN_PALE = (0.45, 1.50, 1.05)
_HAEMATOXYLIN = (1.12, 1.30, 0.58)


@dataclass(frozen=True)
class Dyes:
    """The colours of a stain: densities of three dyes of cytoplasm and of nuclei, and the tint of the background."""

    cytoplasm: tuple[Hue, Hue, Hue]
    nucleus: Hue
    tint: Hue


DYES = {
    "pap": Dyes((_BLUE_GREEN, _PINK, _ORANGE), _PAP_NUCLEUS, (0, 2, 4)),
    "pap-violet": Dyes((_VIOLET, _MAGENTA, _BLUE_GREY), _VIOLET_NUCLEUS, (1, 0, 0)),
    "he": Dyes((_EOSIN, _EOSIN_PALE, _EOSIN), _HAEMATOXYLIN, (4, 0, 4)),
}


def draw_staining(
    stain: str,
    cells: list[CellShape],
    clump_of: NDArray[np.intp],
    variety: float,
    rng: np.random.Generator,
    thinness: float = 0.0,
) -> Staining:
    """Draw the strength and hue of a slide and of each of its cells.

    ``variety`` scales how far slides and cells differ; at 0 all cells of a kind have the same density. ``thinness``, 0
    to 1, makes cytoplasm paler, and lilac where haematoxylin shows in it, as in preparations of a single layer.
    """
    count = len(cells)
    parabasal = np.array([cell.parabasal for cell in cells], dtype=bool)
    slide_strength, slide_nuclei = np.exp(variety * rng.normal(0, (0.2, 0.12)))
    strength = np.where(parabasal, 0.34, 0.245) * slide_strength * np.exp(variety * rng.normal(0, 0.37, count))
    strength = strength * (1 - 0.4 * thinness)
    nuclear = (0.6 if stain == "grey" else 0.82) * slide_nuclei * np.exp(variety * rng.normal(0, 0.2, count))
    saturation = 0.75 * np.exp(variety * rng.uniform(-0.3, 0.3))
    level = 231 + variety * rng.uniform(-14, 9)
    if stain == "grey":
        grey = np.ones(1, dtype=np.float32)
        plasma = np.repeat(_outer(strength, grey)[:, None], 2, axis=1)
        return Staining(plasma, _outer(nuclear, grey), 0.8 * grey, saturation, np.float32(level) * grey)
    colours = DYES[stain]
    dyes = np.array(colours.cytoplasm)
    if stain == "pap":
        dyes[0] = (1 - 0.6 * thinness) * dyes[0] + 0.6 * thinness * np.array(_LILAC)
    dyes = _unit(dyes * np.exp(rng.normal(0, 0.06 * variety, (3, 3))))
    shares = _mixture(parabasal, clump_of, rng)
    tones = _unit(shares @ dyes * np.exp(rng.normal(0, 0.06 * variety, (count, 2, 3))))
    nucleus = _unit(np.array(colours.nucleus) * np.exp(rng.normal(0, 0.06 * variety, 3)))
    tint = np.array(colours.tint) + rng.uniform(-3, 3, 3) * variety
    return Staining(
        np.asarray(0.9 * strength[:, None, None] * tones, dtype=np.float32),
        _outer(nuclear, nucleus),
        np.asarray(0.8 * nucleus, dtype=np.float32),
        saturation,
        np.asarray(level + tint, dtype=np.float32),
    )


def _mixture(parabasal: NDArray[np.bool_], clump_of: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.float64]:
    """Shares (N, 2, 3) of three dyes in the two tones of each cell.

    The cells of a clump tend to agree, the two tones of a cell more so; parabasal cells take the first dye.
    """
    slide = rng.dirichlet((3, 1.6, 0.15))
    clumps = [rng.dirichlet(0.1 + 4 * slide) for _ in range(int(clump_of.max(initial=-1)) + 1)]
    cells = np.array([rng.dirichlet(0.05 + 2.5 * clumps[clump]) for clump in clump_of]).reshape(-1, 3)
    cells[parabasal] = (0.9, 0.1, 0.0)
    tones = [rng.dirichlet(0.1 + 7 * cell, 2) for cell in cells]
    return np.array(tones).reshape(-1, 2, 3)


def _outer(strength: NDArray[np.float64], colour: NDArray[np.floating]) -> Floats:
    return np.asarray(strength[:, None] * colour, dtype=np.float32)


def _unit(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(colours / colours.mean(axis=-1, keepdims=True))
