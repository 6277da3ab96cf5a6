"""The table of README and of docs/results.md: declump and the compared methods end to end, from the raw tables.

    python benchmarks/summary.py

Measures nothing: it takes figures from docs/results/*-end-to-end.md, which benchmarks/results.py writes, with the
commits they were measured at.
"""

from __future__ import annotations

import re

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


def read_table(page: str, heading: str) -> dict[str, list[str]]:
    """Rows of the first table under a heading, by their first cell, without bold letters and spreads."""
    text = page.partition(f"#### {heading}")[2].partition("\n#### ")[0]
    rows = [[cell.strip(" *") for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if "|" in line]
    return {row[0]: [cell.split(" ")[0] for cell in row[1:]] for row in rows}


def summary() -> str:
    """Lines of the table, and where its figures are from."""
    pages = {title: (ROOT / "docs" / "results" / f"{name}.md").read_text() for title, name in DATA.items()}
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
    return "\n".join([*lines, "", f"Measured by `python benchmarks/results.py`: {told}."])


if __name__ == "__main__":
    for target in ("README.md", "docs/results.md"):
        replace_part(target, "peers", summary())
    print(summary())
