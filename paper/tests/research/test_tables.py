"""Tables by hand: two methods, two images of a few cells, two folds."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from declump.evaluation import Score
from declump.evolution.settings import SETTINGS
from declump.records.segmentation import Segmentation
from declump_paper.research.fold_results import ImageScores
from declump_paper.research.images import Images
from declump_paper.research.improvements import improvement_table
from declump_paper.research.methods import ExperimentMethod
from declump_paper.research.paper_figures import printed_bins, printed_pixels, printed_tests
from declump_paper.research.plan import Fold, Plan
from declump_paper.research.results import Results
from declump_paper.research.tables import Table, comparison_table, fold_table, overlap_table, pixel_table, time_table
from declump_paper.research.writing.csv import to_csv
from declump_paper.research.writing.latex import to_latex
from declump_paper.research.writing.markdown import to_markdown
from declump_paper.research.writing.page import html_page
from support.waiting import LIMIT

EMPTY = Segmentation((4, 4), np.zeros((0, 2)), np.zeros((0, 36)), np.zeros(0, np.int64))
DEGREES = {0: [0.1, 0.3, 0.0], 1: [0.6, 0.9, 0.25]}


def measured(image: int, dice: list[float], union: list[list[int]], seconds: float) -> ImageScores:
    """An image whose cells have 100 pixels each; a cell of Dice d shares 100 d of them."""
    count = len(dice)
    hundred = np.full(count, 100)
    score = Score(
        dice=np.array(dice), matched=np.arange(count), overlap_degree=np.array(DEGREES[image]), area=hundred,
        shared=np.round(100 * np.array(dice)).astype(int), spilled=np.zeros(count, int), background=9 * hundred,
        n_predicted=count, union_pixels=np.array(union), aji_intersection=1, aji_union=2, threshold=0.7,
        matching="order",
    )  # fmt: skip
    return ImageScores(image, score, seconds, EMPTY)


FIRST = ExperimentMethod("joint", "declump", SETTINGS["joint"], None)
SECOND = ExperimentMethod("F", "paper-F", SETTINGS["paper"], None, printed="Ours-F")
PLAN = Plan((Fold(1, (0,), (1,), (0,)), Fold(2, (1,), (0, 1), (1,))), "by hand", "true")


@pytest.fixture(scope="module")
def results() -> Results:
    by_method = {
        "joint": (
            (1, measured(1, [0.9, 0.8, 0.7], [[90, 10], [20, 80]], 1.0)),
            (2, measured(0, [1.0, 0.8, 0.6], [[100, 0], [10, 90]], 2.0)),
            (2, measured(1, [0.7, 0.6, 0.9], [[80, 20], [0, 100]], 3.0)),
        ),
        "F": (
            (1, measured(1, [0.5, 0.8, 0.7], [[90, 10], [40, 60]], 1.0)),
            (2, measured(0, [0.9, 0.8, 0.6], [[100, 0], [20, 80]], 1.0)),
            (2, measured(1, [0.5, 0.4, 0.9], [[80, 20], [40, 60]], 1.0)),
        ),
    }
    facts = {name: ({"modes": 5, "failed": {}}, {"modes": 7, "failed": {}}) for name in by_method}
    return Results(PLAN, (FIRST, SECOND), by_method, facts)


def values(table: Table, row: int) -> list[float]:
    return [float("nan") if cell is None else cell.value for cell in table.rows[row].cells]


def test_table_1(results: Results) -> None:
    table = pixel_table(results, None)
    assert table.columns == ("TPR", "TNR", "FPR", "FNR A", "FNR B")
    # Images have TPR 0.8, 0.9, 1; TNR 0.9, 1, 0.8; shares of 0.2, 0.2, 0.8 / 3 missed; 1, 1, 2 of 3 at 0.7 or less.
    first = values(table, 0)
    assert first == pytest.approx([0.9, 0.9, 0.1, 2 / 9, 4 / 9])
    cell = table.rows[0].cells[0]
    assert cell is not None and cell.spread == pytest.approx(np.sqrt(0.02 / 3)) and cell.count == 3
    assert len(table.rows) == 2


def test_table_1_with_printed_figures(results: Results) -> None:
    table = pixel_table(results, "pap")
    assert [(row.label, row.source) for row in table.rows] == [
        ("declump", "ours"),
        ("paper-F", "ours"),
        ("Ours-F as printed", "printed"),
    ]
    assert values(table, 2)[:3] == [0.90, 0.98, 0.02]
    assert table.rows[2].cells[3:5] == (None, None)
    printed = table.rows[2].cells[5]
    assert printed is not None and (printed.value, printed.spread) == (0.32, 0.17)


def test_table_2(results: Results) -> None:
    table = overlap_table(results, None)
    # (0, 1/4): 1.0. [1/4, 1/2): 0.8 of image 0, 0.7 and 0.9 of image 1. [1/2, 3/4): 0.9, 0.7. [3/4, 1): 0.8, 0.6.
    overlapping = [1.0, 0.8, 0.7, 0.9, 0.9, 0.7, 0.8, 0.6]
    expected = [1.0, 0.8, 0.8, 0.7, np.mean(overlapping), np.mean([*overlapping, 0.6])]
    assert values(table, 0) == pytest.approx(expected)
    overall = table.rows[0].cells[4]
    assert overall is not None and overall.spread == pytest.approx(np.std(overlapping)) and overall.count == 8


def test_table_3(results: Results) -> None:
    table = comparison_table(results, FIRST, None)
    assert [row.method for row in table.rows] == ["F"]
    cells = dict(zip(table.columns, table.rows[0].cells, strict=True))
    # TPR by image, folds averaged: 0.9 and (0.8 + 1) / 2 against 0.8 and 0.6: differences 0.1 and 0.3.
    tpr = cells["TPR"]
    assert tpr is not None and tpr.count == 2 and tpr.more["difference"] == pytest.approx(0.2)
    assert tpr.more["t"] == pytest.approx(2.0) and tpr.more["effect"] == pytest.approx(np.sqrt(2))
    assert tpr.value == pytest.approx(0.2951672, rel=1e-6)  # two-sided, one degree of freedom: 1 - 2 atan(2) / pi
    assert tpr.text == f"0.295 / {tpr.more['holm']:.3f} / +1.41"
    # TNR and FPR do not differ at all; three tests are left of FNR A, FNR B and DSC beside TPR.
    tnr = cells["TNR"]
    assert tnr is not None and tnr.text == "equal" and np.isnan(tnr.value)
    assert tpr.more["holm"] == pytest.approx(min(4 * tpr.value, 1.0))
    by_cell = cells["DSC by cell"]
    # Image 0: 0.1, 0. Image 1, folds averaged: 0.3, 0.1, 0.
    assert by_cell is not None and by_cell.count == 5 and by_cell.more["difference"] == pytest.approx(0.1)
    interval = cells["DSC difference"]
    assert interval is not None and interval.value == pytest.approx(0.1)
    assert interval.more["low"] == pytest.approx(0.05) and interval.more["high"] == pytest.approx(0.4 / 3)


def test_times(results: Results) -> None:
    table = time_table(results)
    assert values(table, 0) == pytest.approx([2.0, 1e3 * 6 / 9])
    assert values(table, 1) == pytest.approx([1.0, 1e3 * 3 / 9])


def test_folds_as_the_paper_prints_them(results: Results) -> None:
    images = Images(Path(), ("a", "b"), ("", ""), (6, 9), ((4, 1, 1), (2, 7)))
    table = fold_table(images, PLAN, results)
    rows = {row.label: [cell.value for cell in row.cells if cell is not None] for row in table.rows}
    # Clumps of two cells or more with their cells, then all clumps and all cells.
    assert rows["fold 1, training"] == [1, 1, 4, 3, 6] and rows["fold 2, testing"] == [2, 3, 13, 5, 15]
    assert rows["mean, training"] == [1, 1.5, 6.5, 2.5, 7.5] and rows["mean, testing"] == [1.5, 2.5, 11, 3.5, 12]
    assert rows["paper, training"] == [45, 221] and rows["paper, testing"] == [180, 887]
    assert "from 2 to 7, mean 4.33, standard deviation 2.05 in clumps of two or more" in table.notes[0]
    assert "from 1 to 7, mean 3.00, standard deviation 2.28 with single cells; 1.5 and 2.5 clumps" in table.notes[0]
    assert "declump 5 to 7" in table.notes[1]


def test_average_improvements_of_the_papers_text_follow_from_its_tables_but_for_one(results: Results) -> None:
    for stain, wrong in (("pap", {"(0, 1/4)"}), ("he", set())):
        table = improvement_table(results, (FIRST,), stain)
        assert table is None, "nothing of what the paper averages over was run"
        ablation = replace(SECOND, name="paper")
        tested = {**results.tested, "paper": results.tested["joint"]}
        facts = {**results.facts, "paper": results.facts["joint"]}
        more = Results(PLAN, (SECOND, ablation), tested, facts)
        table = improvement_table(more, (ablation,), stain)
        assert table is not None
        rows = {row.label: dict(zip(table.columns, row.cells, strict=True)) for row in table.rows}
        text, again = rows["paper: its text, over LSF, MCL, MPW, CF"], rows["paper: recomputed from its tables"]
        differing = {
            name
            for name, cell in text.items()
            if cell is not None and again[name] is not None and round(again[name].value, 2) != cell.value
        }
        assert differing == wrong
        for name in "FML":
            told = rows[f"paper: its text, over Ours-{name}, both stains"]
            found = rows[f"paper: recomputed, over Ours-{name}, both stains"]
            for column in ("TPR", "FNR", "overall"):
                assert found[column].value == pytest.approx(told[column].value), (name, column)
        ours = rows["ours: paper-F, over F"]
        assert ours["TPR"].value == pytest.approx(100 * np.mean([0.2, 0.1, 0.4]))
        assert ours["overall"].value == pytest.approx(100 * np.mean([0.4, 0, 0, 0.1, 0, 0.2, 0.2, 0]))


def test_the_spread_over_images_is_that_of_their_means(results: Results) -> None:
    overall = overlap_table(results, None).rows[0].cells[4]
    means = [np.mean(dice) for dice in ([0.9, 0.8, 0.7], [1.0, 0.8], [0.7, 0.6, 0.9])]
    assert overall is not None and overall.over_images == pytest.approx(np.std(means))


def test_tables_of_some_images(results: Results) -> None:
    part = results.restrict({0})
    assert [one.image for _, one in part.tested["joint"]] == [0]
    assert part.pooled("joint").dice.tolist() == [1.0, 0.8, 0.6]


def test_printed_figures_agree_with_the_papers_own_text() -> None:
    others = ("LSF", "MCL", "MPW", "CF")
    for stain, gain in (("pap", 0.0475), ("he", 0.055)):  # "an improvement, on average, 4.75 % ... 5.50 % ... TPR"
        mean = np.mean([printed_pixels(row, stain)["TPR"][0] for row in others])
        assert printed_pixels("Ours", stain)["TPR"][0] - mean == pytest.approx(gain)
    for stain, gain in (("pap", 0.0425), ("he", 0.0475)):  # "with the overall improvement of 4.25 % and 4.75 %"
        mean = np.mean([printed_bins(row, stain)["overall"][0] for row in others])
        assert printed_bins("Ours", stain)["overall"][0] - mean == pytest.approx(gain)
    tests = [printed_tests(row, stain) for row in (*others, "Ours-F", "Ours-M", "Ours-L") for stain in ("pap", "he")]
    assert max(value for test in tests if test for value in test.values()) < 0.05
    assert printed_tests("Ours", "pap") is None


def test_all_ways_of_writing_tell_the_same(results: Results) -> None:
    table = overlap_table(results, "pap")
    shown = "0.800 ± 0.000"
    text = to_markdown(table)
    assert f"| declump | **1.000 ± 0.000** | {'**0.800 ± 0.082 (0.082)**'} |" in text
    assert "| *Ours-F as printed* | *0.80 ± 0.05* |" in text and table.notes[0] in text
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    one = next(row for row in rows if row["method"] == "joint" and row["figure"] == "[1/4, 1/2)")
    assert (one["value"], one["count"], one["source"]) == ("0.8", "3", "ours")
    assert len(rows) == 6 + 6 + 5
    typeset = to_latex(table)
    assert r"\textbf{1.000 $\pm$ 0.000}" in typeset and typeset.count(r"\\") >= 4 and "±" not in typeset
    page = html_page("a < b", {"data": "x & y"}, [table], plots={"table2": ["<svg></svg>"]})
    assert '<td class="best">1.000 ± 0.000</td>' in page and "a &lt; b" in page and "x &amp; y" in page
    assert shown not in page and page.count("<tr") == 1 + len(table.rows)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex to typeset a table")
def test_latex_typesets_a_table_no_wider_than_the_page(results: Results, tmp_path: Path) -> None:
    head = r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}"
    (tmp_path / "table.tex").write_text(f"{head}\n{to_latex(overlap_table(results, 'pap'))}\n\\end{{document}}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT)
    assert run.returncode == 0, run.stdout[-2000:]
    assert "Overfull" not in run.stdout and (tmp_path / "table.pdf").stat().st_size > 1000
