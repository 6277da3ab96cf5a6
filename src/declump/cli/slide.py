"""``declump slide``: whole cells from slides that fit no memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import declump
from declump.cli.terminal import count_of, say_when_interrupted, split_words, tell

FORMATS = "geojson,geoparquet,zarr,png"


def slide(
    slide: Annotated[
        Path, typer.Argument(metavar="SLIDE", help="SVS and what else OpenSlide reads, TIFF, OME-TIFF, OME-Zarr, ...")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the results.")],
    formats: Annotated[
        str, typer.Option("--format", metavar=FORMATS, help="What to write beside cells.parquet, with commas.")
    ] = "geojson,png",
    level: Annotated[int, typer.Option(min=0, help="Level of the pyramid; 0 is the full resolution.")] = 0,
    pixel_size: Annotated[
        float | None, typer.Option(help="Micrometres a pixel; by default as the slide tells.")
    ] = None,
    diameter: Annotated[
        float | None, typer.Option(help="Usual diameter of a nucleus in pixels; by default found in the slide.")
    ] = None,
    regions: Annotated[str, typer.Option(help="'default', or a model of 'declump train regions'.")] = "default",
    rays: Annotated[str, typer.Option(help="'default', or a model of 'declump train rays'.")] = "default",
    evidence: Annotated[
        Literal["rays", "clump"], typer.Option(help="What tells of hidden outlines beside the clump.")
    ] = "rays",
    prior: Annotated[str, typer.Option(help="'default', or a file of 'declump train prior'.")] = "default",
    judge: Annotated[str, typer.Option(help="'default', or a model of 'declump train judge'.")] = "default",
    min_nucleus: Annotated[float, typer.Option(min=0, max=1, help="Least probability of a nucleus.")] = 0.3,
    max_cells: Annotated[int, typer.Option(min=1, help="Clumps with more nuclei are cut at their necks.")] = 200,
    tile: Annotated[int, typer.Option(help="Sides of the tiles in pixels; changes no cell.")] = 1536,
    workers: Annotated[
        int | None,
        typer.Option("-j", "--workers", min=1, help="Processes; by default as cores and memory allow."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:PORT", help="A Dask cluster that is to do the work.")
    ] = None,
    dashboard: Annotated[bool, typer.Option("--dashboard", help="Serve Dask's dashboard on this machine.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run that is in the folder.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Find every cell of a slide that fits no memory, whole; killed at any time, --resume goes on."""
    if overwrite and resume:
        raise typer.BadParameter("a run is taken up or replaced, not both", param_hint="'--overwrite' / '--resume'")
    options = declump.slides.SlideOptions(
        declump.batch.Options(
            regions=regions,
            rays=rays,
            evidence=evidence,
            prior=prior,
            judge=judge,
            min_nucleus=min_nucleus,
            pixel_size=pixel_size,
            diameter=diameter,
        ),
        level=level,
        max_cells=max_cells,
        tile=tile,
    )
    start = time.monotonic()
    with _show_progress() as progress:

        def describe() -> str:
            return "what is done is kept; the same command with --resume (and without --overwrite) goes on"

        with say_when_interrupted(describe):
            outcome = declump.slides.segment_slide(
                slide,
                out,
                options,
                formats=split_words(formats),
                workers=workers,
                scheduler=scheduler,
                dashboard=dashboard,
                resume=resume,
                overwrite=overwrite,
                begin=_Beginning(shown=not json, dashboard=dashboard and scheduler is None),
                progress=progress,
            )
    seconds = time.monotonic() - start
    if json:
        found = {"cells": outcome.cells, "clumps": outcome.clumps, "clumps_cut": outcome.cut, "jobs": outcome.jobs}
        typer.echo(dumps({**found, "seconds": round(seconds, 3), "record": outcome.record.digest, "out": str(out)}))
        return
    cut = f", {outcome.cut} of them cut" if outcome.cut else ""
    typer.echo(f"{count_of(outcome.cells, 'cell')} in {count_of(outcome.clumps, 'clump')}{cut}, {seconds:.1f} s")
    for path in outcome.files:
        typer.echo(f"{path.name.split('.')[0]:<9} {path}")


@dataclass(frozen=True)
class _Beginning:
    """Says what is to be said before the work."""

    shown: bool
    dashboard: bool

    def __call__(self, record: Any, workers: int, needed: int) -> None:
        if self.shown:
            _describe_begin(record, workers, needed)
        if self.dashboard:
            tell("Dask's dashboard is at http://127.0.0.1:8787/status, as long as the work goes on")


def _describe_begin(record: Any, workers: int, needed: int) -> None:
    """Say what was taken from the slide, and how much memory the work will take."""
    statistics, (height, width) = record.statistics, record.shape
    size = "not known, so that lengths are in pixels (--pixel-size tells it)"
    if statistics.pixel_size:
        size = f"{statistics.pixel_size:.4g} µm ({record.pixel_size_from})"
    polarity = "bright" if statistics.turned is None else "dark, turned round"
    typer.echo(f"slide     {height} x {width} pixels, size of a pixel {size}")
    typer.echo(
        f"taken     background {statistics.background:.4g} ({polarity}), nuclei {statistics.diameter:.3g} px wide"
    )
    typer.echo(
        f"memory    at most about {needed / 2**30:.1f} GB each for {count_of(workers, 'worker')}, "
        f"{workers * needed / 2**30:.1f} GB in all"
    )
    sys.stdout.flush()


@contextmanager
def _show_progress() -> Iterator[Callable[[str, int, int, int], None]]:
    """Show the stage, what is done of it, cells a second and the time left on a terminal; lines elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    quiet = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task, stage, begun, told, last = bar.add_task("", total=None, rate=""), "", 0.0, 0.0, time.monotonic()
        before = 0

        def show(now: str, done: int, total: int, cells: int) -> None:
            nonlocal stage, begun, told, last, before
            if now != stage:
                # What an earlier run had done says nothing of the time that is left.
                stage, begun, before = now, last, done
                bar.reset(task)
            last = time.monotonic()
            passed = last - begun
            rate = f"{cells} cells, {cells / passed:.1f} a second" if now == "cells" and cells and passed > 0 else ""
            bar.update(task, description=now, completed=done, total=total, rate=rate)
            if quiet and done and (done == total or last - told > 10):
                told = last
                fresh = done - before
                left = f", about {passed / fresh * (total - done):.0f} s left" if done < total and fresh > 0 else ""
                tell(f"{now}: {done} of {total}{', ' if rate else ''}{rate}{left}")

        yield show
