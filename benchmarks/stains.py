"""How real Papanicolaou stains look: the colours of cytoplasm and nuclei in frames without annotation.

    python benchmarks/stains.py --data ../shared/data/colour

Colour is optical density: the negative logarithm of the light of a pixel over that of the background, in red, green and
blue; a hue is a density divided by its mean over the channels. Cytoplasm is what has a moderate density, nuclei (and
leukocytes) what is much denser than what surrounds it. The hues of cytoplasm are three groups (k-means, begun with
blue-green, pink and orange). Their statistics stand in ``src/declump/simulate/stains.py``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from scipy import ndimage

from declump import io
from pages import ROOT

CYTOPLASM = (0.10, 0.45)
"""Mean densities of cytoplasm."""
NUCLEUS = 0.35
"""How much denser than what surrounds it a nucleus is."""
BEGIN = np.array([[1.62, 0.77, 0.61], [0.45, 1.48, 1.07], [0.35, 0.95, 1.70]])
"""Where the groups begin: the blue-green, pink and orange that the textbook names."""
EVERY = 3
"""Pixels are taken from every so many rows and columns."""


def densities(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Densities (H, W, 3), and the light (3,) of the background."""
    pixels = ndimage.gaussian_filter(image[..., :3].astype(np.float32), (1, 1, 0))
    background = np.percentile(pixels.astype(np.float64), 95, axis=(0, 1))
    return np.maximum(-np.log(np.maximum(pixels, 1) / background), 0), background


def measure_frame(image: np.ndarray) -> dict[str, np.ndarray]:
    """Hues of the pixels of cytoplasm and of nuclei of one frame, their densities, and the background."""
    density, background = densities(image)
    mean = density.mean(axis=2)
    around = ndimage.gaussian_filter(mean, 25)
    dense = ndimage.binary_opening(mean > around + NUCLEUS, iterations=3)
    plasma = (mean > CYTOPLASM[0]) & (mean < CYTOPLASM[1]) & ~ndimage.binary_dilation(dense, iterations=8)
    plasma = ndimage.binary_opening(plasma, iterations=3)
    dense, plasma = dense[::EVERY, ::EVERY], plasma[::EVERY, ::EVERY]
    density, mean = density[::EVERY, ::EVERY].astype(np.float64), mean[::EVERY, ::EVERY].astype(np.float64)
    return {
        "cytoplasm": density[plasma] / mean[plasma][:, None],
        "cytoplasm density": mean[plasma],
        "nuclei": density[dense] / mean[dense][:, None],
        "nucleus density": mean[dense],
        "background": background,
    }


def group(hues: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means (3, 3) of the three groups of hues, and the group (P,) of each."""
    means = BEGIN.copy()
    for _ in range(50):
        own = np.argmin(((hues[:, None] - means) ** 2).sum(axis=2), axis=1)
        kept = [hues[own == index] for index in range(3)]
        means = np.array([part.mean(axis=0) if len(part) else mean for part, mean in zip(kept, means, strict=True)])
    return means, own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data" / "colour")
    options = parser.parse_args()
    paths = sorted(options.data.glob("*.jpg"))
    frames = [measure_frame(np.asarray(io.read_image(path))) for path in paths]
    rng = np.random.default_rng(0)
    # Every frame counts alike.
    drawn = [frame["cytoplasm"][rng.integers(len(frame["cytoplasm"]), size=4000)] for frame in frames]
    means, own = group(np.concatenate(drawn))
    shares = np.array([np.bincount(part, minlength=3) / len(part) for part in np.split(own, len(frames))])
    every = np.concatenate(drawn)
    nuclei = np.array([frame["nuclei"].mean(axis=0) for frame in frames if len(frame["nuclei"])])
    told = {
        "frames": len(frames),
        "cytoplasm": {
            name: {
                "hue": np.round(means[index], 3).tolist(),
                "spread": np.round(np.log(np.maximum(every[own == index], 0.05)).std(axis=0), 3).tolist(),
                "share": round(float(shares[:, index].mean()), 3),
            }
            for index, name in enumerate(("violet", "magenta", "blue-grey"))
        },
        "shares, spread over frames": np.round(shares.std(axis=0), 3).tolist(),
        "cytoplasm density": np.round(
            np.percentile(np.concatenate([frame["cytoplasm density"] for frame in frames]), (10, 50, 90)), 3
        ).tolist(),
        "nuclei": {
            "hue": np.round(nuclei.mean(axis=0), 3).tolist(),
            "spread": np.round(np.log(nuclei).std(axis=0), 3).tolist(),
        },
        "nucleus density": np.round(
            np.percentile(np.concatenate([frame["nucleus density"] for frame in frames]), (10, 50, 90)), 3
        ).tolist(),
        "background": np.round(np.mean([frame["background"] for frame in frames], axis=0), 1).tolist(),
        "background, spread": np.round(np.std([frame["background"] for frame in frames], axis=0), 1).tolist(),
    }
    print(json.dumps(told, indent=2))
    print("\n".join(f"{path.stem}: {np.round(share, 2).tolist()}" for path, share in zip(paths, shares, strict=True)))


if __name__ == "__main__":
    main()
