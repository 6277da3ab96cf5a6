"""The tables of the experiments as data: what they hold, not how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from declump.evaluation import bootstrap_interval
from declump_paper.research.images import Images
from declump_paper.research.methods import ExperimentMethod
from declump_paper.research.paper_figures import (
    BIN_COLUMNS,
    BINS_NOTE,
    FNR_NOTE,
    SPREAD_NOTE,
    Stain,
    printed_bins,
    printed_pixels,
    printed_tests,
)
from declump_paper.research.plan import Plan
from declump_paper.research.results import Results
from declump_paper.research.statistics import PairedTest, holm, paired_t_test

Source = Literal["ours", "printed"]


@dataclass(frozen=True)
class Cell:
    """One entry of a table.

    Attributes
    ----------
    value : float
        NaN where there is none.
    spread : float, optional
        Standard deviation.
    over_images : float, optional
        Of a mean over cells, the standard deviation over images of their own means.
    count : int, optional
        What it is over.
    more : mapping of str to float
        Further numbers that belong to it, for files.
    text : str, optional
        What is shown instead of numbers.
    """

    value: float
    spread: float | None = None
    count: int | None = None
    more: dict[str, float] = field(default_factory=dict)
    text: str | None = None
    digits: int = 3
    over_images: float | None = None


@dataclass(frozen=True)
class Row:
    """One line of a table; ``source`` tells the paper's figures from ours."""

    label: str
    cells: tuple[Cell | None, ...]
    source: Source = "ours"
    method: str = ""


@dataclass(frozen=True)
class Table:
    """A table: ``name`` for files, ``title`` for people, columns, rows, and notes beneath."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


PIXEL_FIGURES = {"TPR": "tpr", "TNR": "tnr", "FPR": "fpr", "FNR A": "fnr_pixels", "FNR B": "fnr_objects"}
PRINTED_FOLDS = {"training": (45, 221), "testing": (180, 887)}
"""Clumps and cells of a fold that the paper prints, over both of its stains."""
TESTED_FIGURES = {**PIXEL_FIGURES, "DSC": "dice_overlapping"}


def pixel_table(results: Results, stain: Stain | None) -> Table:
    """Table I: rates of pixels, mean and standard deviation over all tested images."""
    columns = (*PIXEL_FIGURES, *(("FNR printed",) if stain else ()))
    rows = []
    for method in results.methods:
        cells: list[Cell | None] = [_mean(results.every(method.name, name)) for name in PIXEL_FIGURES.values()]
        rows.append(Row(method.title, (*cells, *((None,) if stain else ())), method=method.name))
        if stain and method.printed:
            printed = {name: Cell(*pair, digits=2) for name, pair in printed_pixels(method.printed, stain).items()}
            shown = [printed[name] for name in ("TPR", "TNR", "FPR")]
            rows.append(_printed(method, (*shown, None, None, printed["FNR"])))
    note = (
        "Mean ± standard deviation over the tested images, each fold counted. TPR, TNR and FPR are of the union of all "
        "cells."
    )
    return Table("table1", "Table I: pixels", columns, tuple(rows), (note, FNR_NOTE))


def overlap_table(results: Results, stain: Stain | None) -> Table:
    """Table II: Dice of cells by their overlap degree, mean and standard deviation over all tested cells."""
    rows = []
    for method in results.methods:
        score = results.pooled(method.name)
        hidden, bins = score.overlap_degree > 0, np.digitize(score.overlap_degree, [0.25, 0.5, 0.75])
        chosen = [*(hidden & (bins == number) for number in range(4)), hidden, np.ones_like(hidden)]
        images = np.repeat(np.arange(len(results.tested[method.name])), _cell_counts(results, method.name))
        cells = tuple(_mean_of_cells(score.dice[part], images[part]) for part in chosen)
        rows.append(Row(method.title, cells, method=method.name))
        if stain and method.printed:
            printed = [Cell(*pair, digits=2) for pair in printed_bins(method.printed, stain).values()]
            rows.append(_printed(method, (*printed, None)))
    notes = [
        "Dice of cells by overlap degree, the hidden share of a cell's outline; mean ± standard deviation over cells "
        "(in brackets that over images, of their means), each fold counted; overall is over overlapping cells, a "
        "missed cell counts 0. Our last bin also holds cells that are hidden all round.",
        *((SPREAD_NOTE,) if stain else ()),
    ]
    if stain == "pap" and any(method.printed == "Ours-F" for method in results.methods):
        notes.append(BINS_NOTE)
    return Table("table2", "Table II: Dice by overlap degree", (*BIN_COLUMNS, "all cells"), tuple(rows), tuple(notes))


def comparison_table(results: Results, reference: ExperimentMethod, stain: Stain | None) -> Table:
    """Table III: paired t-tests of one method against every other, one value an image."""
    others = [method for method in results.methods if method.name != reference.name]
    tests = {
        (other.name, column): _test_images(results, reference.name, other.name, figure)
        for other in others
        for column, figure in TESTED_FIGURES.items()
    }
    # FPR is 1 - TNR, one test and not two.
    family = [key for key in tests if key[1] != "FPR"]
    corrected = dict(zip(family, holm([tests[key].p for key in family]), strict=True))
    corrected |= {(other.name, "FPR"): corrected[other.name, "TNR"] for other in others}
    rows = []
    for other in others:
        cells: list[Cell | None] = [
            _test_cell(tests[other.name, column], corrected[other.name, column]) for column in TESTED_FIGURES
        ]
        cells += [_cell_test(results, reference.name, other.name), _interval(results, reference.name, other.name)]
        rows.append(Row(other.title, tuple(cells), method=other.name))
        printed = printed_tests(other.printed, stain) if stain and other.printed else None
        if printed:
            shown = {name: Cell(value, text=f"{value:.3f}") for name, value in printed.items()}
            line = (shown["TPR"], shown["TNR"], shown["FPR"], shown["FNR"], None, shown["DSC"], None, None)
            rows.append(_printed(other, line))
    count = max((test.count for test in tests.values()), default=0)
    notes = (
        f"{reference.title} against each other method: p of the paired t-test as the paper prints it, p after Holm's "
        "correction over all tests of this table (FPR is 1 - TNR and counts with it), and Cohen's d_z (positive: "
        f"{reference.title} has the larger figure). A pair is an image, the mean of its folds ({count} images); DSC is "
        "over overlapping cells.",
        "By cell, pairs are cells instead; cells of one clump are not independent, so that these p are too small. The "
        "difference in DSC has an interval by drawing images anew (bootstrap, 95 %).",
        *(("The printed FNR stands under A, the reading that the paper's own reason describes.",) if stain else ()),
        *(("The paper tests its own method against the others, printed p are of that.",) if stain else ()),
    )
    columns = (*TESTED_FIGURES, "DSC by cell", "DSC difference")
    name = "table3" if reference.printed is None else f"table3-{reference.name}"
    return Table(name, f"Table III: {reference.title} against the others", columns, tuple(rows), notes)


def time_table(results: Results) -> Table:
    """Processor time of each method."""
    rows = []
    for method in results.methods:
        once = {id(one): one for _, one in results.tested[method.name]}.values()  # not again for every fold
        seconds = np.array([one.seconds for one in once])
        cells = sum(len(one.score.dice) for one in once)
        per_cell = Cell(1e3 * float(seconds.sum()) / max(cells, 1), digits=1)
        rows.append(Row(method.title, (_mean(seconds, digits=2), per_cell), method=method.name))
    note = "Processor time of the segmentation alone, in one thread, regions given; without learning and compilation."
    return Table("times", "Run time", ("seconds an image", "ms a cell"), tuple(rows), (note,))


def fold_table(images: Images, plan: Plan, results: Results | None = None) -> Table:
    """What the folds hold, as the paper prints it: clumps and cells for training and testing, cells per clump."""
    columns = ("images", "clumps of two or more", "their cells", "clumps, single cells too", "cells")
    rows = []
    sums = {"training": [_counts(images, fold.train) for fold in plan.folds]}
    sums["testing"] = [_counts(images, fold.test) for fold in plan.folds]
    for role, counts in sums.items():
        for fold, count in zip(plan.folds, counts, strict=True):
            cells = tuple(Cell(float(one), digits=0) for one in count)
            rows.append(Row(f"fold {fold.number}, {role}", cells))
        average = np.mean(counts, axis=0)
        rows.append(Row(f"mean, {role}", tuple(Cell(float(one), digits=1) for one in average)))
        rows.append(Row(f"paper, {role}", _fold_cells(*PRINTED_FOLDS[role]), "printed"))
    notes = []
    sizes = np.array([size for clump_cells in images.clump_cells for size in clump_cells if size], dtype=np.int64)
    if sizes.size:
        several = sizes[sizes >= 2]
        notes.append(
            f"Cells per clump: {_sizes(several)} in clumps of two or more, {_sizes(sizes)} with single cells; "
            f"{several.size / len(images.clump_cells):.1f} and {sizes.size / len(images.clump_cells):.1f} clumps an "
            "image. The paper has from 2 to 13 cells, mean 4.93, standard deviation 1.81; and 11 clumps of 3.3 cells "
            "an image for its Pap stain, 7 of 6.1 for its H&E stain, which fits the Pap images only if single cells "
            "are counted."
        )
    if results is not None:
        told = []
        for method in results.methods:
            modes = [int(str(fact["modes"])) for fact in results.facts[method.name] if fact["modes"] is not None]
            if modes:
                told.append(f"{method.title} {min(modes)} to {max(modes)}")
        notes += [f"Modes t over the folds: {'; '.join(told)} (paper: 20)."] if told else []
    return Table("folds", f"Folds: {plan.way}", columns, tuple(rows), tuple(notes))


def failures(results: Results) -> list[str]:
    """Sentences about images on which a method failed."""
    said = []
    for method in results.methods:
        failed: dict[str, str] = {}
        for fact in results.facts[method.name]:
            failed |= fact["failed"]
        if failed:
            name, reason = sorted(failed.items())[0]
            said.append(f"{method.title} failed on {len(failed)} images, which count as missed; on {name}: {reason}")
    return said


def _counts(images: Images, chosen: Sequence[int]) -> tuple[int, int, int, int, int]:
    sizes = [size for index in chosen for size in images.clump_cells[index] if size]
    several = [size for size in sizes if size >= 2]
    return len(chosen), len(several), sum(several), len(sizes), sum(images.cells[index] for index in chosen)


def _fold_cells(clumps: int, cells: int) -> tuple[Cell | None, ...]:
    return None, Cell(float(clumps), digits=0), Cell(float(cells), digits=0), None, None


def _sizes(sizes: np.ndarray) -> str:
    if not sizes.size:
        return "none"
    return f"from {sizes.min()} to {sizes.max()}, mean {sizes.mean():.2f}, standard deviation {sizes.std():.2f}"


def _cell_counts(results: Results, method: str) -> list[int]:
    return [len(one.score.dice) for _, one in results.tested[method]]


def _mean_of_cells(dice: np.ndarray, images: np.ndarray) -> Cell:
    """Mean and spread over cells, and the spread of the means of images."""
    means = [dice[images == image].mean() for image in np.unique(images)]
    return replace(_mean(dice), over_images=float(np.std(means)) if len(means) > 1 else None)


def _mean(values: np.ndarray, digits: int = 3) -> Cell:
    if not values.size:
        return Cell(float("nan"), count=0)
    return Cell(float(values.mean()), float(values.std()), int(values.size), digits=digits)


def _printed(method: ExperimentMethod, cells: Sequence[Cell | None]) -> Row:
    return Row(f"{method.printed} as printed", tuple(cells), "printed", method.name)


def _test_images(results: Results, reference: str, other: str, figure: str) -> PairedTest:
    first, second = results.by_image(reference, figure), results.by_image(other, figure)
    return paired_t_test([first[image] for image in first], [second[image] for image in first])


def _test_cell(test: PairedTest, corrected: float | None) -> Cell:
    more = {"t": test.t, "holm": float("nan") if corrected is None else corrected, "effect": test.effect}
    if np.isnan(test.p):
        return Cell(test.p, count=test.count, more={**more, "difference": test.difference}, text="equal")
    parts = [_probability(test.p), *([_probability(corrected)] if corrected is not None else []), f"{test.effect:+.2f}"]
    return Cell(test.p, count=test.count, more={**more, "difference": test.difference}, text=" / ".join(parts))


def _cell_test(results: Results, reference: str, other: str) -> Cell:
    first, second = results.by_cell(reference), results.by_cell(other)
    pairs = [np.concatenate([of[image] for image in first]) for of in (first, second)]
    return _test_cell(paired_t_test(*pairs), None)


def _interval(results: Results, reference: str, other: str) -> Cell | None:
    first, second = results.by_cell(reference), results.by_cell(other)
    differences = [first[image] - second[image] for image in first]
    if sum(difference.size > 0 for difference in differences) < 2:
        return None
    found = bootstrap_interval(differences)
    more = {"low": found.low, "high": found.high}
    text = f"{found.estimate:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
    return Cell(found.estimate, more=more, text=text)


def _probability(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"
