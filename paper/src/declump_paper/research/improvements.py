"""The paper's sentences on average improvements, recomputed: from its own printed tables, and from ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from declump_paper.research.methods import PAPER_ROWS, ExperimentMethod
from declump_paper.research.paper_figures import (
    ABLATION_SENTENCES,
    IMPROVEMENT_COLUMNS,
    Stain,
    printed_figures,
    printed_improvements,
)
from declump_paper.research.results import Results
from declump_paper.research.tables import Cell, Row, Table

OTHERS = tuple(PAPER_ROWS)
"""The methods that the paper averages over."""
ABLATIONS = ("F", "M", "L")


def improvement_table(results: Results, references: tuple[ExperimentMethod, ...], stain: Stain | None) -> Table | None:
    """How much better methods are than the average of the compared ones, and than each ablation, in points.

    Parameters
    ----------
    results : Results
    references : tuple of ExperimentMethod
        Methods that may be better.
    stain : "pap", "he" or None
        Which printed figures stand beside.

    Returns
    -------
    Table or None
        None where none of the compared methods and ablations was run.
    """
    run = {method.name for method in results.methods}
    others = [name for name in OTHERS if name in run]
    rows: list[Row] = []
    if stain:
        sentence = printed_improvements(stain)
        rows.append(_row("paper: its text, over LSF, MCL, MPW, CF", [sentence[name] for name in IMPROVEMENT_COLUMNS]))
        average = _improve(
            printed_figures("Ours", stain), [printed_figures(PAPER_ROWS[name], stain) for name in OTHERS]
        )
        rows.append(_row("paper: recomputed from its tables", average))
        for name in ABLATIONS:
            tpr, fnr, dice = ABLATION_SENTENCES[name]
            text = f"paper: its text, over Ours-{name}, both stains"
            rows.append(_row(text, [tpr, fnr, None, None, None, None, dice]))
            both = [
                _improve(printed_figures("Ours", one), [printed_figures(f"Ours-{name}", one)]) for one in ("pap", "he")
            ]
            rows.append(_row(f"paper: recomputed, over Ours-{name}, both stains", np.mean(both, axis=0).tolist()))
    found = []
    for method in references:
        own = _figures(results, method.name)
        if others:
            names = ", ".join(name.upper() for name in others)
            gained = _improve(own, [_figures(results, name) for name in others])
            found.append(_row(f"ours: {method.title}, over {names}", gained, method.name))
        found += [
            _row(f"ours: {method.title}, over {name}", _improve(own, [_figures(results, name)]), method.name)
            for name in ABLATIONS
            if method.name == "paper" and name in run
        ]
    if not found:
        return None
    note = (
        "Points (hundredths) by which a method is better than the mean of others; FNR is reading A. The text prints "
        "the ends of the range from [1/4, 1/2) to [3/4, 1) only."
    )
    more = "Of the printed sentences one does not follow from the printed tables: 3.00 on Pap stain below 1/4 is 3.25."
    notes = (note, more) if stain == "pap" else (note,)
    return Table("improvements", "Average improvements", IMPROVEMENT_COLUMNS, (*rows, *found), notes)


def _figures(results: Results, method: str) -> dict[str, float]:
    """Means of a method by ``IMPROVEMENT_COLUMNS``: rates over images, Dice over cells."""
    score = results.pooled(method)
    hidden, bins = score.overlap_degree > 0, np.digitize(score.overlap_degree, [0.25, 0.5, 0.75])
    chosen = [*(hidden & (bins == number) for number in range(4)), hidden]
    rates = [results.every(method, figure) for figure in ("tpr", "fnr_pixels")]
    values = [*rates, *(score.dice[part] for part in chosen)]
    means = [float(value.mean()) if value.size else float("nan") for value in values]
    return dict(zip(IMPROVEMENT_COLUMNS, means, strict=True))


def _improve(own: dict[str, float], others: list[dict[str, float]]) -> list[float]:
    """Points gained on the mean of others, a column each; of the FNR less is more."""
    gained = []
    for name in IMPROVEMENT_COLUMNS:
        difference = own[name] - float(np.mean([other[name] for other in others]))
        gained.append(100 * (-difference if name == "FNR" else difference))
    return gained


def _row(label: str, values: Sequence[float | None], method: str = "") -> Row:
    cells = tuple(None if value is None else Cell(value, text=f"{value:+.2f}") for value in values)
    return Row(label, cells, "ours" if method else "printed", method)
