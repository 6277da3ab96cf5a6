"""Tables of README, paper/docs/results.md and paper/docs/paper.md, from the raw tables.

    python paper/benchmarks/summary.py

Measures nothing: declump and the compared methods end to end are taken from paper/docs/results/*-end-to-end.md, the
paper's experiments beside its printed figures from paper/docs/results/isbi2015-true.md, which
paper/benchmarks/results.py writes, with the commits they were measured at.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from pages import ROOT, replace_part

DATA = {"ISBI 2015": "isbi2015-end-to-end", "ISBI 2014": "isbi2014-end-to-end"}
SAME_NUCLEI = ", nuclei completed"
"""How rows are called in which all methods start from the same nuclei, completed as declump completes them."""
METHODS = {
    "**declump**": "declump (rays)",
    "CF, contour fragments": "CF, contour fragments (our reading)",
    "MPW, multi-pass watershed": "MPW, multi-pass watershed (our reading)",
    "LSF, joint level sets": "LSF, joint level sets",
    "star-shaped level sets": "Star-shaped level sets (our reading)",
}
PAPER = "isbi2015-true"
PAPER_ROWS = {
    "Ours": ("`paper`", "paper, aligned once"),
    "Ours-L": ("`L`", "paper-L: no importance"),
    "Ours-F": ("`F`", "paper-F: finite set"),
    "Ours-M": ("`M`", "paper-M: level sets"),
    "Ours-M, level sets of LSF": ("`M-lsf`", "paper-M, level sets of LSF"),
    "Ours-M, level sets of MCL": ("`M-mcl`", "paper-M, level sets of MCL"),
    "LSF": ("`lsf`", "LSF, joint level sets"),
    "MCL": ("`mcl`", "MCL, multiple cells labelling"),
    "MPW": ("`mpw`", "MPW, multi-pass watershed (our reading)"),
    "CF": ("`cf`", "CF, contour fragments (our reading)"),
    "declump's own setting": ("`joint`", "declump"),
}
"""Rows of the paper's tables, with the methods of ``declump reproduce`` and their titles there."""
STUDIES = {"K": "Study of radii of an outline, K", "t": "Study of modes, t", "E*": "Study of threshold E*"}


def read_cells(page: str, heading: str) -> dict[str, list[str]]:
    """Rows of the first table under a heading, by their first cell, without bold letters."""
    text = page.partition(f"#### {heading}")[2].partition("\n#### ")[0]
    rows = [[cell.strip(" *") for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if "|" in line]
    return {row[0]: row[1:] for row in rows}


def read_table(page: str, heading: str) -> dict[str, list[str]]:
    """Give the same without spreads."""
    return {name: [cell.split(" ")[0] for cell in row] for name, row in read_cells(page, heading).items()}


def summary() -> str:
    """Lines of the table, and where its figures are from."""
    pages = {title: (ROOT / "paper" / "docs" / "results" / f"{name}.md").read_text() for title, name in DATA.items()}
    lines = [
        "| | "
        + " | ".join(f"{title}, overlapping cells | {title}, all cells" for title in DATA)
        + " | seconds a frame |",
        "|---" * (2 * len(DATA) + 2) + "|",
    ]
    for shown, name in METHODS.items():
        cells = []
        for page in pages.values():
            row = read_table(page, "Table II").get(name + SAME_NUCLEI)
            cells += ["", ""] if row is None else row[-2:]
        seconds = read_table(pages["ISBI 2015"], "Run time").get(name + SAME_NUCLEI, [""])[0]
        lines.append(f"| {shown} | {' | '.join(cells)} | {seconds} |")
    commits = {title: re.search(r"at commit (\w+)", page) for title, page in pages.items()}
    told = ", ".join(f"{title} at commit {found[1]}" for title, found in commits.items() if found)
    return "\n".join([*lines, "", f"Measured by `python paper/benchmarks/results.py`: {told}."])


def beside_print() -> str:
    """Lines of the table of the paper's experiments, printed / ours, of its studies, and where ours are from."""
    page = (ROOT / "paper" / "docs" / "results" / f"{PAPER}.md").read_text()
    pixels, dice = (read_cells(page, f"Table {number}:") for number in ("I", "II"))
    tests = read_cells(page, "Table III: paper")
    columns = ("row of the paper", "method", "Dice, overlapping", "by overlap degree", "TPR", "FNR A", "p, DSC")
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for printed, (method, title) in PAPER_ROWS.items():
        if title not in dice:
            continue
        overall = [row[4] if row else "-" for row in (dice.get(f"{printed} as printed"), dice[title])]
        bins = [
            ", ".join(cell.split(" ")[0] for cell in row[:4]) if row else "-"
            for row in (dice.get(f"{printed} as printed"), dice[title])
        ]
        known, own = pixels.get(f"{printed} as printed"), pixels[title]
        rates = [
            f"{known[0].split(' ')[0] if known else '-'} / {own[0].split(' ')[0]}",
            f"{known[-1].split(' ')[0] if known else '-'} / {own[3].split(' ')[0]}",
        ]
        pair = [tests.get(name) for name in (f"{printed} as printed", title)]
        chance = " / ".join(row[5].split(" / ")[0] if row else "-" for row in pair)
        cells = [printed, method, " / ".join(overall), " / ".join(bins), *rates, chance if any(pair) else "reference"]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "Printed / ours; ± over cells, in brackets over images; p of the paired t-test of `paper` against the row.",
        "",
    ]
    lines += ["| study, `L` | Dice, overlapping cells |", "|---|---|"]
    for name, heading in STUDIES.items():
        found = {key: row for key, row in read_cells(page, heading).items() if key.startswith("paper without")}
        if found:
            told = ", ".join(f"{key.rpartition('= ')[2]}: {row[0].split(' ')[0]}" for key, row in found.items())
            lines.append(f"| {name} | {told} |")
    commit = re.search(r"at commit (\w+)", page)
    command = re.search(r"command: (`[^`]*`)", page)
    assert commit and command
    return "\n".join([*lines, "", f"{command[1]} at commit {commit[1]}, [all tables](results/{PAPER}.md)."])


if __name__ == "__main__":
    for target in ("docs/results.md",):
        replace_part(target, "peers", summary())
    replace_part("paper/docs/paper.md", "experiments", beside_print())
    print(summary(), beside_print(), sep="\n\n")
