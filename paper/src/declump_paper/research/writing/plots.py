"""Plots of a parameter study as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 360, 200
LEFT, BOTTOM, TOP = 56, 40, 24
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


@dataclass(frozen=True)
class Line:
    """A line of a plot: its name, and a value at each place of the axis."""

    name: str
    values: tuple[float, ...]


def plot(title: str, axis: str, places: Sequence[str], lines: Sequence[Line], *, digits: int = 3) -> str:
    """Draw lines over evenly spaced places.

    Parameters
    ----------
    title : str
        What is drawn.
    axis : str
        What the places are.
    places : sequence of str
        Names of the places, left to right.
    lines : sequence of Line
        With as many values as places.
    digits : int
        Of the numbers at the vertical axis.

    Returns
    -------
    str
        An ``svg`` element.
    """
    values = [value for line in lines for value in line.values]
    low, high = min(values), max(values)
    margin = 0.08 * (high - low) or max(abs(high), 1e-3) * 0.1
    low, high = low - margin, high + margin
    total = HEIGHT + TOP + BOTTOM + 16 * len(lines)

    def x(index: int) -> float:
        return LEFT + WIDTH * (index + 0.5) / len(places)

    def y(value: float) -> float:
        return TOP + HEIGHT * (high - value) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 8} {total}" width="{LEFT + WIDTH + 8}" '
        f'height="{total}" role="img" aria-label="{escape(title)} by {escape(axis)}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="100%" height="100%" fill="#fff"/><text x="{LEFT}" y="14">{escape(title)}</text>',
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#d5dadf"/>',
    ]
    for step in range(5):
        value = low + (high - low) * step / 4
        parts.append(
            f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#eceff1"/>'
        )
        parts.append(f'<text x="{LEFT - 4}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.{digits}f}</text>')
    for index, place in enumerate(places):
        parts.append(f'<text x="{x(index):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{escape(place)}</text>')
    middle = LEFT + WIDTH / 2
    parts.append(f'<text x="{middle:g}" y="{TOP + HEIGHT + 33}" text-anchor="middle">{escape(axis)}</text>')
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(index):.1f},{y(value):.1f}" for index, value in enumerate(line.values))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for index, value in enumerate(line.values):
            parts.append(
                f'<circle cx="{x(index):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"><title>{escape(line.name)}, '
                f"{escape(places[index])}: {value:.{digits}f}</title></circle>"
            )
        below = TOP + HEIGHT + BOTTOM + 16 * number
        parts.append(f'<rect x="{LEFT}" y="{below}" width="12" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 18}" y="{below + 6}">{escape(line.name)}</text>')
    return "".join([*parts, "</svg>"])
