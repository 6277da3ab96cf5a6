"""``declump segment``: whole cells from images."""

from __future__ import annotations

import glob
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from json import dumps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import declump
from declump.cli.terminal import count_of, image_bar, say_when_interrupted, split_words, tell
from declump.errors import printable

FORMATS = "coco,geojson,imagej,csv,parquet,tiff,zarr,png"


def segment(
    images: Annotated[
        list[str],
        typer.Argument(metavar="IMAGE", help="Images, folders of images, or patterns such as 'a/**/*.png'."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="Folder for the results, one folder an image in it; by default IMAGE-declump beside it."
        ),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar=FORMATS,
            help="What to write, with commas; by default masks,csv,png. Also contours.json.",
        ),
    ] = None,
    pixel_size: Annotated[
        float | None, typer.Option(help="Micrometres a pixel; by default as the metadata of an image tells.")
    ] = None,
    diameter: Annotated[float | None, typer.Option(help="Usual diameter of a nucleus in pixels.")] = None,
    regions: Annotated[str, typer.Option(help="'default', or a model of 'declump train regions'.")] = "default",
    evidence: Annotated[
        Literal["clump", "rays"] | None,
        typer.Option(help="What tells of hidden outlines beside the clump; by default 'rays'.", show_default=False),
    ] = None,
    rays: Annotated[str, typer.Option(help="'default', or a model of 'declump train rays'.")] = "default",
    prior: Annotated[str, typer.Option(help="'default', or a file of 'declump train prior'.")] = "default",
    setting: Annotated[
        Literal["joint", "paper"], typer.Option(help="'joint', or 'paper', the published method.")
    ] = "joint",
    judge: Annotated[
        str,
        typer.Option(help="'default', 'none', or a model of 'declump train judge': tells nuclei from leukocytes."),
    ] = "default",
    min_nucleus: Annotated[
        float,
        typer.Option(min=0, max=1, help="Least probability of a nucleus: less finds more cells, and more false ones."),
    ] = 0.3,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Least confidence of a cell; others are left out.")
    ] = 0.0,
    numbers: Annotated[bool, typer.Option("--numbers", help="Write the numbers of cells into the overlay.")] = False,
    others: Annotated[bool, typer.Option("--others", help="Mark leukocytes and debris in the overlay.")] = False,
    stack: Annotated[
        Literal["fuse", "planes"],
        typer.Option(help="Focus stacks (Z) in a TIFF: 'fuse' them into a sharp image, or every plane an image."),
    ] = "fuse",
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", min=1, help="Images at a time; by default as cores and memory allow."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace results that are in the folder.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each image and one for all.")] = False,
) -> None:
    """Find every cell of images, whole."""
    if overwrite and resume:
        raise typer.BadParameter("a run is taken up or replaced, not both", param_hint="'--overwrite' / '--resume'")

    chosen = {} if formats is None else {"formats": declump.io.format_names(split_words(formats))}
    options = declump.batch.Options(
        regions=regions,
        evidence=evidence,
        rays=rays,
        prior=prior,
        setting=setting,
        pixel_size=pixel_size,
        diameter=diameter,
        judge=judge,
        min_nucleus=min_nucleus,
        min_confidence=min_confidence,
        others=others,
        numbers=numbers,
        stack=stack,
        **chosen,
    )
    out = _beside(images) if out is None else out
    start = time.monotonic()
    sources = declump.batch.find_sources(images, out=out, note=tell, stack=stack)
    lines = not (sys.stderr.isatty() and sys.stdout.isatty()) and not json
    count = 0

    def describe() -> str:
        done = f"{count} of {count_of(len(sources), 'image')} done"
        return f"{done}; the same command with --resume (and without --overwrite) goes on"

    # What is said of an interruption comes after the bar has gone.
    with say_when_interrupted(describe), image_bar(len(sources)) as (advance, say):

        def show(outcome: declump.batch.Outcome) -> None:
            nonlocal count
            count += 1
            advance(outcome.cells)
            if outcome.again:
                tell(f"{outcome.source}: done again, since {outcome.again}")
            for warning in (outcome.record or {}).get("warnings", ()):
                tell(f"warning: {outcome.source}: {warning}")
            if json:
                _print_json({"event": "image", **_facts(outcome)})
            elif lines:
                typer.echo(f"[{count}/{len(sources)}] {outcome.source}: {_describe(outcome)}")

        outcomes = declump.batch.run(
            sources, out, options,
            jobs=jobs, overwrite=overwrite, resume=resume, command=_command(images, options), done=show,
            doing=lambda source, stage: say(stage if len(sources) == 1 else f"{source.path.name}: {stage}"),
        )  # fmt: skip
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    summary = {
        "images": len(outcomes),
        "cells": sum(outcome.cells for outcome in outcomes),
        "failed": len(failed),
        "earlier": sum(outcome.earlier for outcome in outcomes),
        "seconds": round(time.monotonic() - start, 3),
    }
    if json:
        _print_json({"event": "summary", **summary, "out": str(out)})
    else:
        _print_table(summary)
        _print_places(out, outcomes)
    if failed:
        tell(f"{len(failed)} of {count_of(len(outcomes), 'image')} failed:")
        for outcome in failed:
            tell(f"{outcome.source}: {_reason(outcome)}")
        raise typer.Exit(1)


def _beside(images: Sequence[str]) -> Path:
    """Give the folder that results of one image, or of one folder of images, go to unless another is named."""
    path = Path(images[0])
    if len(images) > 1 or (not path.exists() and glob.has_magic(images[0])):
        raise typer.BadParameter("give a folder for the results of several images", param_hint="'-o' / '--out'")
    path = path.resolve()
    return path.with_name(f"{path.stem if path.is_file() else path.name}-declump")


def _command(images: Sequence[str], options: declump.batch.Options) -> str:
    """Give the command without what changes no result, so that it is the same however the run came to its end."""
    words = ["declump", "segment", *map(str, images)]
    for field in fields(options):
        value = getattr(options, field.name)
        if value != field.default:
            option = "--format" if field.name == "formats" else f"--{field.name.replace('_', '-')}"
            words.append(option)
            if value is not True:
                words.append(",".join(value) if isinstance(value, tuple) else str(value))
    return shlex.join(words)


def _facts(outcome: declump.batch.Outcome) -> dict[str, Any]:
    """Everything a program may want to know of an image; what is undefined is None."""
    record = outcome.record or {}
    return {
        "path": outcome.source.shown_path,
        "page": outcome.source.page,
        "name": printable(outcome.source.name),
        "status": outcome.status,
        "reason": outcome.reason,
        "cells": outcome.cells if record else None,
        "clumps": record["image"]["clumps"] if record else None,
        "pixel_size": record.get("pixel_size"),
        "pixel_size_from": record.get("pixel_size_from"),
        "warnings": record.get("warnings", []),
        "earlier": outcome.earlier,
        "again": outcome.again,
        "seconds": round(outcome.seconds, 3),
    }


def _describe(outcome: declump.batch.Outcome) -> str:
    if outcome.record is None:
        return f"failed: {_reason(outcome)}"
    size, origin = outcome.record["pixel_size"], outcome.record["pixel_size_from"]
    parts = [count_cells(outcome)]
    parts += [f"pixels of {size:g} µm ({origin})"] if size and origin != "given" else []
    return ", ".join([*parts, "done earlier" if outcome.earlier else f"{outcome.seconds:.1f} s"])


def count_cells(outcome: declump.batch.Outcome) -> str:
    """Say in a few words what was found in an image."""
    clumps = outcome.record["image"]["clumps"] if outcome.record else 0
    return f"{count_of(outcome.cells, 'cell')} in {count_of(clumps, 'clump')}"


def _reason(outcome: declump.batch.Outcome) -> str:
    """Why an image failed, without its path where that stands before it anyway."""
    return outcome.reason.removeprefix(f"{outcome.source.shown_path} ")


def _print_json(record: dict[str, Any]) -> None:
    typer.echo(dumps(record, allow_nan=False))
    sys.stdout.flush()


def _print_table(summary: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for name in ("images", "cells", "failed", "seconds"):
        table.add_column(name, justify="right")
    table.add_row(*(str(summary[name]) for name in ("images", "cells", "failed")), f"{summary['seconds']:.1f}")
    Console().print(table)


def _print_places(out: Path, outcomes: Sequence[declump.batch.Outcome]) -> None:
    """Say where to look, for a single image in detail, and which sizes of pixels were taken from metadata."""
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    sizes = {(record["pixel_size_from"], record["pixel_size"]) for record in records}
    origins = sorted(pair for pair in sizes if pair[0] not in (None, "given"))
    for origin, size in origins[:3]:
        typer.echo(f"pixels    {size:g} µm by {origin}")
    if len(origins) > 3:
        typer.echo(f"pixels    of {len(origins) - 3} more sizes; see images.csv")
    if len(outcomes) == 1 and outcomes[0].record is not None:
        for line in list_files(out / outcomes[0].source.name):
            typer.echo(line)
    typer.echo(f"images    {out / 'images.csv'}")
    typer.echo(f"run       {out / 'run.json'}")


def list_files(folder: Path) -> list[str]:
    """Say in one line each where the results of an image are, those to look at first."""
    formats = declump.io.FORMATS
    first = {"overlay": "overlay", "masks": "masks", "csv": "table", "others": "others", "contours": "contours"}
    titles = {**first, **{name: name for name in formats if name not in first}}
    return [
        f"{title:<9} {folder / formats[name].file}"
        for name, title in titles.items()
        if (folder / formats[name].file).exists()
    ]
