"""Whether the verdict on a frame is what people say who look at it: a confusion table.

    python benchmarks/verdicts.py --data ../shared/data/cric [--quick] [--write]

``frames_by_eye.csv`` holds frames of CRIC sorted by eye: ``also`` is a second word that would be right as well, where a
frame is on the line. Limits were chosen on the training and choosing parts; the reporting part and the made images
(blurred copies of reporting frames, text, tissue, black, red cells alone, empty glass) were only checked.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage
from skimage.color import hed2rgb, rgb2hed
from skimage.data import immunohistochemistry, page, text

import declump
from declump import io
from declump.measurements.quality import judge_quality, measure_appearance, measure_focus
from declump.regions.channels import ImageChannels
from pages import ROOT, commit, replace_part

READABLE = ("good", "inflamed", "shaded")
"""Verdicts on a frame that was found usable: leukocytes and shadows were not asked for."""
BLURRED = 10
"""Reporting frames that are blurred."""


def judge(image: np.ndarray, *, quick: bool) -> str:
    """Verdict on an image, from its cells as well unless that takes too long."""
    if not quick:
        return str(declump.measure(declump.segment(image), image).image["quality"])
    picture = ImageChannels(image)
    usual: dict[str, Any] = {"cells": 20, "leukocytes": 0, "mean_confidence": 0.8, "shadow_share": 0.0}
    usual["focus"] = measure_focus(picture, np.nan)
    return judge_quality(usual, measure_appearance(picture, np.nan))


def made(frames: Path, rows: list[dict[str, str]], *, quick: bool) -> Iterator[tuple[str, str, np.ndarray]]:
    """Name, right verdict and pixels of what is not among the frames."""
    usable = [row["frame"] for row in rows if row["part"] == "report" and row["by_eye"] == "usable"]
    for frame in usable[:BLURRED]:
        image = io.read_image(frames / f"{frame}.jpg")
        yield f"{frame} blurred", "out of focus", ndimage.gaussian_filter(image, (3, 3, 0))
    stained = rgb2hed(immunohistochemistry())
    stained[..., 1], stained[..., 2] = stained[..., 1] + stained[..., 2], 0
    yield "tissue in H&E", "not a smear", np.clip(hed2rgb(stained) * 255, 0, 255).astype(np.uint8)
    yield "page of text", "not a smear", page()
    yield "text", "not a smear", text()
    yield "black", "not a smear", np.random.default_rng(0).integers(0, 5, (600, 800, 3)).astype(np.uint8)
    yield "red cells alone", "too bloody", io.read_image(frames / "59665093.jpg")[100:700, 850:1376]
    if not quick:
        yield "glass alone", "empty", io.read_image(frames / "7da6d189.jpg")[600:1000, 450:1000]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data" / "cric")
    parser.add_argument("--quick", action="store_true", help="find no cells: what follows from the image alone")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results.md")
    options = parser.parse_args()
    with (Path(__file__).parent / "frames_by_eye.csv").open() as file:
        rows = list(csv.DictReader(file))
    counts: Counter[tuple[str, str, str]] = Counter()
    right: Counter[str] = Counter()

    def count(part: str, name: str, image: np.ndarray, by_eye: str, also: str) -> None:
        verdict = judge(image, quick=options.quick)
        accepted = [*READABLE] * ("usable" in (by_eye, also) or by_eye == "nearly empty") + [by_eye, also]
        counts[part, by_eye, verdict] += 1
        right[part] += verdict in accepted
        if verdict not in accepted:
            print(f"{name} ({part}): by eye {by_eye}, verdict {verdict}", flush=True)

    for row in rows:
        part = "report" if row["part"] == "report" else "train, choose"
        count(part, row["frame"], io.read_image(options.data / f"{row['frame']}.jpg"), row["by_eye"], row["also"])
    for name, verdict, image in made(options.data, rows, quick=options.quick):
        count("made", name, image, verdict, "")
    verdicts = sorted({verdict for _, _, verdict in counts})
    quick, source = (" --quick", "the image alone") if options.quick else ("", "image and cells")
    lines = [f"`python benchmarks/verdicts.py{quick} --write`, commit {commit()}; from {source}.", ""]
    lines += ["| part | by eye | " + " | ".join(verdicts) + " |", "|" + "---|" * (len(verdicts) + 2)]
    for part, by_eye in sorted({(part, by_eye) for part, by_eye, _ in counts}, reverse=True):
        lines.append(
            f"| {part} | {by_eye} | " + " | ".join(str(counts[part, by_eye, word]) for word in verdicts) + " |"
        )
    totals = {part: sum(number for (own, *_), number in counts.items() if own == part) for part in right}
    lines += ["", "Right, or right as well: " + ", ".join(f"{part} {right[part]} of {totals[part]}" for part in totals)]
    print("\n".join(lines))
    if options.write:
        replace_part("docs/results.md", "verdicts", "\n".join(lines))


if __name__ == "__main__":
    main()
