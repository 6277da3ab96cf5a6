"""Small histograms as SVG, to stand in the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from declump.pictures.legend import readable
from declump.report.content import describe
from declump.report.results import ImageResult

BINS = 20
OUTLIER = 3.0
"""Distances of the quartiles, from them on, beyond which a value would flatten the histogram of all others."""
WIDTH, HEIGHT = 240, 80
"""Size of the bars in pixels."""
_MEASURED = ("area_um2", "area_px2", "nucleus_to_cytoplasm_area_ratio", "overlap_degree", "confidence")


def histograms(results: Sequence[ImageResult]) -> str:
    """Draw how area, N/C ratio, overlap and confidence of all cells are spread.

    Returns
    -------
    str
        HTML with a figure for each.
    """
    if not results:
        return ""
    names = [name for name in _MEASURED if name in results[0].measurements.cells]
    if "area_um2" in names:
        names.remove("area_px2")
    values = {name: np.concatenate([result.measurements.cells[name] for result in results]) for name in names}
    return "\n".join(_figure(describe(name), numbers) for name, numbers in values.items())


def _figure(column: dict[str, str], numbers: np.ndarray) -> str:
    known = numbers[np.isfinite(numbers)]
    label, meaning = escape(column["label"]), escape(column["meaning"])
    missing = f", {numbers.size - known.size} not known" if known.size < numbers.size else ""
    if not known.size:
        return f'<figure title="{meaning}"><figcaption>{label}</figcaption><p>no value{missing}</p></figure>'
    low, high = _limits(known, column["meaning"].endswith("[0 to 1]"))
    counts, _ = np.histogram(np.clip(known, low, high), BINS, (low, high))
    step, tallest = WIDTH / BINS, counts.max()
    bars = "".join(
        f'<rect x="{index * step + 0.5:g}" y="{HEIGHT * (1 - count / tallest):.1f}" width="{step - 1:g}" '
        f'height="{HEIGHT * count / tallest:.1f}"><title>{readable(low + index * (high - low) / BINS)} to '
        f"{readable(low + (index + 1) * (high - low) / BINS)}: {count}</title></rect>"
        for index, count in enumerate(counts)
        if count
    )
    median = float(np.median(known))
    at = WIDTH * (median - low) / (high - low)
    ends = (
        f"{'≤ ' if known.min() < low else ''}{readable(low)}",
        f"{'≥ ' if known.max() > high else ''}{readable(high)}",
    )
    said = f"median {readable(median)} of {known.size}{missing}"
    return (
        f'<figure title="{meaning}"><figcaption>{label}: {said}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 16}" width="{WIDTH}" height="{HEIGHT + 16}" role="img" '
        f'aria-label="Histogram of {label}, {said}">{bars}'
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}"/>'
        f'<line class="median" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{HEIGHT}"/>'
        f'<text x="0" y="{HEIGHT + 13}">{ends[0]}</text>'
        f'<text x="{WIDTH}" y="{HEIGHT + 13}" text-anchor="end">{ends[1]}</text>'
        "</svg></figure>"
    )


def _limits(known: np.ndarray, share: bool) -> tuple[float, float]:
    """Ends of the axis: 0 and 1 for shares, else those of the values but for outliers, which the last bars hold.

    An outlier lies farther from the quartiles than three times their distance.
    """
    if share:
        return 0.0, 1.0
    first, third = (float(value) for value in np.quantile(known, [0.25, 0.75]))
    reach = OUTLIER * (third - first)
    low, high = max(float(known.min()), first - reach), min(float(known.max()), third + reach)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
