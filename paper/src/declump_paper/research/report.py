"""Everything that is written at the end of a run."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from declump import __version__
from declump_paper.research.data import DataSet
from declump_paper.research.examples import draw_comparison
from declump_paper.research.improvements import improvement_table
from declump_paper.research.methods import ExperimentMethod
from declump_paper.research.networks import REGION_WINDOWS
from declump_paper.research.paper_figures import Stain
from declump_paper.research.results import Results, collect_results
from declump_paper.research.runs import Run
from declump_paper.research.storage import write_bytes
from declump_paper.research.studies import TITLES, Study, milliseconds, study_table
from declump_paper.research.tables import (
    Table,
    comparison_table,
    failures,
    fold_table,
    overlap_table,
    pixel_table,
    time_table,
)
from declump_paper.research.writing.csv import to_csv
from declump_paper.research.writing.latex import to_latex
from declump_paper.research.writing.markdown import to_markdown
from declump_paper.research.writing.page import html_page
from declump_paper.research.writing.plots import Line, plot

REGIONS = {
    "true": "true clumps and nuclei; a cell is compared with the one its nucleus belongs to",
    "train": "found by a network trained on each fold's training part alone; cells are matched greedily",
    "models": "found by networks that did not see the image; cells are matched greedily",
}

WRITTEN = ("table*.csv", "improvements*.csv", "folds.csv", "times.csv", "study-*.csv", "study-*.svg", "comparison.png")
"""Files that not every run writes: those of an earlier run in the same folder are not to stay."""


def write_tables(
    run: Run,
    data: DataSet,
    methods: Sequence[ExperimentMethod],
    studied: Sequence[Study],
    *,
    reference: str | None = None,
    command: str = "",
) -> dict[str, Path]:
    """Write tables and figures of a run that is done.

    Parameters
    ----------
    run : Run
        With the methods of the tables and of the studies.
    data : DataSet
    methods : sequence of ExperimentMethod
        Those of the tables.
    studied : sequence of Study
    reference : str, optional
        Method that the others are tested against; by default ``rays``, ``joint``, or the first that was run, and in a
        second table ``paper``.
    command : str
        What was asked for.

    Returns
    -------
    dict of str to Path
        Files to look at, by what they are.
    """
    everything = collect_results(run)
    results = Results(everything.plan, tuple(methods), everything.tested, everything.facts)
    tables: list[Table] = [fold_table(run.images, run.plan, results)]
    if methods:
        tested = _references(methods, reference)
        if data.parts:
            for part in data.parts:
                own = {index for index, name in enumerate(run.images.names) if name.startswith(part.prefix)}
                found = _tables(results.restrict(own), tested, part.printed)
                tables += [
                    replace(table, name=f"{table.name}-{part.name}", title=f"{part.title}. {table.title}")
                    for table in found
                ]
        else:
            tables += _tables(results, tested, data.printed)
        tables.append(time_table(results))
    plots = {}
    for study in studied:
        tables.append(study_table(everything, study))
        plots[f"study-{study.name}"] = _plots(everything, study)
    facts = _facts(run, data, command, failures(results))
    picture = _picture(run, results)
    title = f"declump reproduce: {data.title}"

    out, files = run.out, {}
    for pattern in WRITTEN:
        for earlier in out.glob(pattern):
            earlier.unlink()
    text = [f"# {title}", "", *(f"- {name}: {value}" for name, value in facts.items())]
    for table in tables:
        text += ["", to_markdown(table, level=2)]
        write_bytes(out / f"{table.name}.csv", to_csv(table).encode())
    text += (
        ["", "## Visual comparison", "", "![one row an example, one column a method](comparison.png)"]
        if picture
        else []
    )
    for name, drawn in plots.items():
        for kind, svg in zip(("accuracy", "time"), drawn, strict=True):
            write_bytes(out / f"{name}-{kind}.svg", svg.encode())
    if picture:
        write_bytes(out / "comparison.png", picture)
        files["picture"] = out / "comparison.png"
    write_bytes(out / "results.md", ("\n".join(text) + "\n").encode())
    write_bytes(out / "tables.tex", "\n".join(to_latex(table) for table in tables).encode())
    write_bytes(out / "results.html", html_page(title, facts, tables, picture=picture, plots=plots).encode())
    return {"page": out / "results.html", "text": out / "results.md", "latex": out / "tables.tex", **files}


def write_record(run: Run, data: DataSet, command: str) -> None:
    """Write ``run.json``: what is asked for, before anything is done."""
    content = {
        "format": "declump reproduce",
        "version": __version__,
        "command": command,
        "data": data.name,
        "images": list(run.images.names),
        "way": run.plan.way,
        "regions": run.plan.regions,
        "architecture": run.architecture if run.plan.regions == "train" else None,
        "refined": run.refined,
        "folds": [
            {
                "train": [run.images.names[index] for index in fold.train],
                "test": [run.images.names[index] for index in fold.test],
                "models": [path.name for path in (fold.regions, fold.rays) if path is not None],
            }
            for fold in run.plan.folds
        ],
        "methods": [method.record() for method in run.methods],
    }
    write_bytes(run.out / "run.json", (json.dumps(content, indent=1) + "\n").encode())


def _tables(results: Results, tested: tuple[ExperimentMethod, ...], printed: Stain | None) -> list[Table]:
    """Tables I to III, once for every method that the others are tested against, and average improvements."""
    made = [pixel_table(results, printed), overlap_table(results, printed)]
    if len(results.methods) > 1:
        made += [comparison_table(results, one, printed) for one in tested]
        improved = improvement_table(results, tested, printed)
        made += [improved] if improved is not None else []
    return made


def _references(methods: Sequence[ExperimentMethod], name: str | None) -> tuple[ExperimentMethod, ...]:
    """Methods that the others are tested against: the one asked for; or our own, and the paper's as the paper does."""
    by_name = {method.name: method for method in methods}
    if name is not None:
        if name not in by_name:
            raise ValueError(f"there is no method {name!r} to test against; choose of {', '.join(by_name)}")
        return (by_name[name],)
    own = next((by_name[one] for one in ("rays", "joint") if one in by_name), methods[0])
    return (own, by_name["paper"]) if "paper" in by_name and own.name != "paper" else (own,)


def _facts(run: Run, data: DataSet, command: str, failed: Sequence[str]) -> Mapping[str, str]:
    plan, images = run.plan, run.images
    facts = {
        "data": f"{data.title}: {len(images)} images, {sum(images.cells)} cells. {data.note}".strip(),
        "protocol": plan.way,
        "regions": _describe_regions(run),
        "version": f"declump {__version__}",
        **({"command": command} if command else {}),
    }
    return {**facts, **({"failures": "; ".join(failed)} if failed else {})}


def _describe_regions(run: Run) -> str:
    """Where regions come from, and how the networks that found them were made."""
    parts = [REGIONS[run.plan.regions]]
    if run.plan.regions == "train":
        parts.append(f"architecture {run.architecture}, {run.steps} batches of {REGION_WINDOWS} windows a fold")
    parts += ["refined by a Markov random field"] if run.refined else []
    return "; ".join(parts)


def _plots(results: Results, study: Study) -> tuple[str, str]:
    """Accuracy and time by the parameter."""
    places = [f"{value:g}" for value in study.values]
    accuracy, times = [], []
    for title, line in study.lines.items():
        scores = [results.pooled(method.name).dice_overlapping for method in line]
        accuracy.append(Line(title, tuple(scores)))
        times.append(Line(title, tuple(milliseconds(results, method.name) for method in line)))
    axis = TITLES[study.name]
    return (
        plot("Dice of overlapping cells", axis, places, accuracy),
        plot("milliseconds a cell", axis, places, times, digits=1),
    )


def _picture(run: Run, results: Results) -> bytes | None:
    from PIL import Image

    if not results.methods:
        return None
    drawn = draw_comparison(run.images, results)
    if drawn is None:
        return None
    buffer = io.BytesIO()
    Image.fromarray(drawn).save(buffer, "PNG")
    return buffer.getvalue()
