"""The page: read the results, fill the template, write one file."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from declump import __version__
from declump._files import write_atomically
from declump.measurements.quality import VERDICTS
from declump.report.content import all_cells, embed, outlines
from declump.report.histograms import histograms
from declump.report.results import ImageResult, read_result, result_folders
from declump.report.run import RunSummary, read_run

NAME = "report.html"
Failure = tuple[str, str]
"""Name of an image, and why there is no result of it."""


def write_report(
    folder: str | Path,
    *,
    images: str | Path | None = None,
    min_confidence: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Make one page of all results in a folder; it needs no other file, and no network.

    The same results give the same bytes: nothing in the page tells when it was made.

    Parameters
    ----------
    folder : str or Path
        What ``declump segment`` wrote: a folder for each image in it; or the folder of one image.
    images : str or Path, optional
        Folder with the original images, each of the name of its results. By default their paths are taken from
        ``run.json``; where there is no original, the page shows ``overlay.png``.
    min_confidence : float
        Confidence from which on cells are shown at first; in the page any column can be filtered.
    progress : callable, optional
        Called with the number of images done and in all.

    Returns
    -------
    Path
        ``report.html`` in that folder; an earlier one is replaced.

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or it holds no results.
    ValueError
        If its ``run.json`` is damaged. A damaged result of one image becomes a failure in the page.
    """
    folder, images = Path(folder), None if images is None else Path(images)
    places = result_folders(folder)
    run = _run(folder, places)
    if not places and not run.images:
        raise FileNotFoundError(f"the folder {folder} holds no results of declump; give one that 'segment' wrote")
    if images is not None and not images.is_dir():
        raise FileNotFoundError(f"there is no folder {images}; give one that holds the original images")
    results, failures = [], [(image.name, image.reason or "not known why") for image in run.images if image.failed]
    names = [_name(place, folder) for place in places]
    for number, (place, name) in enumerate(zip(places, names, strict=True), start=1):
        try:
            results.append(read_result(place, name, run, images))
        except (FileNotFoundError, ValueError) as error:
            failures.append((name, str(error)))
        if progress:
            progress(number, len(places))
    known = {*names, *(name for name, _ in failures)}
    gone = [image.name for image in run.images if image.name not in known]
    failures += [(name, "its results are not in the folder any more") for name in gone]
    write_atomically(folder / NAME, _page(folder.resolve().name, run, results, failures, min_confidence))
    return folder / NAME


def _name(place: Path, folder: Path) -> str:
    """What a run calls the results in a place: their path from the run's folder on."""
    return place.resolve().name if place == folder else place.relative_to(folder).as_posix()


def _run(folder: Path, places: Sequence[Path]) -> RunSummary:
    """Read the run; for the folder of one image that beside it, without what it tells of other images."""
    if places != [folder] or (folder / "run.json").is_file():
        return read_run(folder)
    run, name = read_run(folder.resolve().parent), folder.resolve().name
    return replace(run, images=tuple(image for image in run.images if image.name == name))


def _page(
    title: str, run: RunSummary, results: Sequence[ImageResult], failures: Sequence[Failure], min_confidence: float
) -> str:
    parts = resources.files("declump.report")
    template, style, script = ((parts / f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    cells = sum(len(result.segmentation) for result in results)
    counts = [_count(len(results), "image"), _count(cells, "cell")]
    counts += [f"{len(failures)} failed"] if failures else []
    first = next((number for number, result in enumerate(results) if len(result.segmentation)), 0)
    blocks = [f'<script type="application/json" id="cells-data">{embed(all_cells(results, min_confidence))}</script>']
    blocks += [
        f'<script type="application/json" id="image-{number}">{embed(outlines(result))}</script>'
        for number, result in enumerate(results)
    ]
    return Template(template).substitute(
        title=escape(title),
        summary=", ".join(counts),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        histograms=histograms(results),
        failures=_failures(failures),
        images="\n".join(_image(number, result, number == first) for number, result in enumerate(results)),
        settings=_settings(run),
        blocks="\n".join(blocks),
    )


def _image(number: int, result: ImageResult, opened: bool) -> str:
    """Give the place of one image; the script fills it when it is first opened."""
    cells, summary = result.measurements.cells, result.measurements.image
    facts = [_count(len(result.segmentation), "cell"), _count(int(summary["clumps"]), "clump")]
    if len(result.segmentation):
        facts.append(f"mean confidence {cells['confidence'].mean():.2f}")
    if len(result.segmentation.others or ()):
        facts.append(_count(int(summary["leukocytes"]), "leukocyte"))
    facts += [] if result.seconds is None else [f"{result.seconds:.1f} s"]
    notes = [VERDICTS[summary["quality"]]] if summary["quality"] in VERDICTS else []
    notes += [result.note] if result.note else []
    note = "".join(f'<p class="note">{escape(text[:1].upper() + text[1:])}.</p>' for text in notes)
    return (
        f'<details class="image" data-image="{number}"{" open" if opened else ""}><summary>'
        f'<span class="name">{escape(result.name)}</span> <span class="facts">{", ".join(facts)}</span></summary>'
        f'{note}<div class="picture"></div></details>'
    )


def _failures(failures: Sequence[Failure]) -> str:
    if not failures:
        return ""
    return f'<section id="failures"><h2>Failures</h2>{_table(failures, ("image", "reason"))}</section>'


def _settings(run: RunSummary) -> str:
    import numpy

    facts: list[tuple[str, Any]] = [
        ("page made by", f"declump {__version__}, Python {platform.python_version()}, NumPy {numpy.__version__}"),
        ("cells found by", f"declump {run.version}" if run.version else "not known: there is no run.json"),
        *([("command", run.command)] if run.command else []),
        *run.settings.items(),
    ]
    return _table([(name, "not given" if value is None else str(value)) for name, value in facts])


def _table(rows: Iterable[tuple[str, str]], head: tuple[str, ...] = ()) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in rows)
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def _count(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


def _hash(text: str) -> str:
    """Name a style or script for the security policy of the page, which lets no other one work."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
