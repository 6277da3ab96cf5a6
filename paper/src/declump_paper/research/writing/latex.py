"""Tables as LaTeX, to be put into a paper; needs the packages booktabs and graphicx."""

from __future__ import annotations

from declump_paper.research.tables import Table
from declump_paper.research.writing.cells import format_rows

_AS_WIDE_AS_THE_PAGE = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Shrinks what follows if it is wider than the page."""
_SPECIAL = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "±": r"$\pm$"}
_SPECIAL |= {"<": r"$<$", ">": r"$>$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}


def to_latex(table: Table) -> str:
    """Text of a table as an environment ``table*``; our best figure of a column is bold, printed ones are italic."""
    head = " & ".join(["", *map(_escape, table.columns)])
    lines = [r"\begin{table*}", rf"\caption{{{_escape(table.title)}}}", rf"\label{{{table.name}}}"]
    lines += [_AS_WIDE_AS_THE_PAGE]
    lines += [rf"\begin{{tabular}}{{l{'c' * len(table.columns)}}}", r"\toprule", rf"{head} \\", r"\midrule"]
    for row, texts in format_rows(
        table, bold=lambda text: rf"\textbf{{{text}}}", italic=lambda text: rf"\textit{{{text}}}", escape=_escape
    ):
        lines.append(rf"{' & '.join([_escape(row.label), *texts])} \\")
    lines += [r"\bottomrule", r"\end{tabular}}"]
    lines += [rf"\par\footnotesize {_escape(note)}" for note in table.notes]
    return "\n".join([*lines, r"\end{table*}", ""])


def _escape(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in text)
