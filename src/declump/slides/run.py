"""A run over a slide: record, regions, cells, results; taken up where it stopped."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from declump._files import check_free, check_links, remove_drafts, write_atomically
from declump._locks import hold_folder
from declump.batch.image import GIVEN, as_text
from declump.batch.resources import BASE, free_memory, usable_cores
from declump.evidence.proposals import find_reach
from declump.io.slide_results import FILE as CELLS_FILE
from declump.io.slide_results import RECORD_FILE, open_slide_result
from declump.records.statistics import ImageStatistics
from declump.regions.inference import TILE as AT_ONCE
from declump.slides.cells import JobPlan, describe_left, make_plan, solve
from declump.slides.gathering import Gathered, gather
from declump.slides.geojson import write_geojson
from declump.slides.labels import write_labels
from declump.slides.opened import open_run
from declump.slides.options import SlideOptions
from declump.slides.overview import write_overview
from declump.slides.readers import Slide, import_library, open_slide
from declump.slides.record import SlideRecord, digest_slide, look_at_slide
from declump.slides.regions import Act, do_tiles, find_all_clumps, make_tasks
from declump.slides.store import WORK, Store
from declump.slides.tables import write_geoparquet, write_others, write_parquet
from declump.slides.workers import check_cluster, do_all, open_cluster

FORMATS = {
    "geojson": "cells.geojson.gz",
    "geoparquet": "cells.geo.parquet",
    "zarr": "cells.ome.zarr",
    "png": "overview.png",
}
"""What is written beside ``cells.parquet``, by name."""
DEFAULT_FORMATS = ("geojson", "png")
OTHERS_FILE, SUMMARY_FILE = "others.parquet", "summary.json"
LIBRARIES = ("dask", "distributed", "zarr", "pyarrow.parquet", "shapely")
"""What a run needs, beside what reads its slide: one that is missing is told of before the work, not after it."""
WINDOW_BYTES, RESIZED_BYTES, NETWORK_BYTES, CLUMP_BYTES = 80, 50, 450, 120
"""Bytes at the height of the memory for a pixel of a tile with what is round it, for one of that at the scale of the
network where it is another, for one that the network looks at in one go, and for one of the box of a clump."""

Tell = Callable[[str, int, int, int], None]
"""Called with a stage, how many of its tasks are done and in all, and the cells found so far."""


@dataclass(frozen=True)
class SlideOutcome:
    """What became of a slide.

    Attributes
    ----------
    record : SlideRecord
    cells, clumps, cut, jobs : int
        Numbers of cells, of clumps, of clumps that were cut, and of jobs.
    files : tuple of Path
    """

    record: SlideRecord
    cells: int
    clumps: int
    cut: int
    jobs: int
    files: tuple[Path, ...]


def segment_slide(
    slide: str | Path,
    out: str | Path,
    options: SlideOptions | None = None,
    *,
    statistics: ImageStatistics | None = None,
    formats: Sequence[str] = DEFAULT_FORMATS,
    workers: int | None = None,
    scheduler: str | None = None,
    dashboard: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    begin: Callable[[SlideRecord, int, int], None] | None = None,
    progress: Tell | None = None,
) -> SlideOutcome:
    """Find every cell of a slide that may be larger than the memory.

    The files are the same whatever the number of workers and the size of the tiles, and whether the run was killed and
    taken up again.

    Parameters
    ----------
    slide : str or Path
        See :func:`declump.slides.open_slide`.
    out : str or Path
        Folder of the results.
    options : SlideOptions, optional
    statistics : ImageStatistics, optional
        Instead of those found in the slide.
    formats : sequence of str
        Names in ``FORMATS``, beside ``cells.parquet``.
    workers : int, optional
        Processes; by default as many as there are cores, and memory for.
    scheduler : str, optional
        Address of a Dask cluster that is to do the work.
    dashboard : bool
        Whether Dask's dashboard is served.
    resume, overwrite : bool
        Whether a run in the folder is taken up, or replaced.
    begin : callable, optional
        Called with the record, the number of workers and the bytes that each needs, before the work.
    progress : callable, optional
        Called as tasks are done.

    Raises
    ------
    FileExistsError, PermissionError, BlockingIOError
        If there is a run in the folder, or it cannot be written to, or another run writes into it.
    ValueError
        If the slide cannot be read, an option is wrong, or a run with other options is to be taken up.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise ValueError(f"a slide is written as {', '.join(FORMATS)}; there is no format {unknown[0]!r}")
    out, path, options = Path(out), Path(slide).absolute(), options or SlideOptions()
    check_free(out, overwrite=True)
    opened = open_slide(path, options.level)
    if not (out / RECORD_FILE).is_file() and not overwrite:
        check_free(out)
    for library in LIBRARIES:
        import_library(library)
    check_cluster(scheduler, dashboard)
    with hold_folder(out), _tell_of_full_disk():
        check_links(out, [RECORD_FILE, WORK, CELLS_FILE, OTHERS_FILE, SUMMARY_FILE, *FORMATS.values()])
        record = _begin(path, opened, out, options, statistics, resume=resume, overwrite=overwrite)
        store = Store(out, record)
        needed = memory_for(store)
        count = _choose_workers(needed) if workers is None else workers
        if begin:
            begin(record, count, needed)
        store.create_arrays()
        with open_cluster(count, scheduler=scheduler, dashboard=dashboard) as client:
            return _run(store, opened, client, tuple(formats), progress or (lambda *_: None))


@contextmanager
def _tell_of_full_disk() -> Iterator[None]:
    """Say of a full disk that it took nothing away."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        told = f"{os.strerror(error.errno)}; what is done is kept: make room, and resume"
        raise OSError(error.errno, told, error.filename) from error


def memory_for(store: Store) -> int:
    """Bytes that a worker needs at most: for a tile with what is round it, or for the largest clump that is not cut."""
    run = open_run(str(store.out))
    height, width = run.record.shape

    def count_pixels(side: float, scale: float = 1.0) -> float:
        return min(side, scale * height) * min(side, scale * width)

    lattice, tile = run.finder.lattice, run.finder.find_largest_window(run.record.options.tile)
    window = WINDOW_BYTES * count_pixels(tile)
    window += NETWORK_BYTES * count_pixels(min(lattice.scale * tile, AT_ONCE), lattice.scale)
    if lattice.pixels != lattice.steps:
        window += RESIZED_BYTES * count_pixels(lattice.scale * tile, lattice.scale)
    reach = find_reach(run.record.options.cells.rays, run.record.statistics.diameter)
    clump = CLUMP_BYTES * count_pixels(run.record.options.max_side + 2 * reach)
    return BASE + int(max(window, clump))


def _choose_workers(needed: int) -> int:
    free = free_memory()
    fit = usable_cores() if free is None else free // needed
    return max(min(usable_cores(), fit), 1)


def _begin(
    path: Path,
    slide: Slide,
    out: Path,
    options: SlideOptions,
    given: ImageStatistics | None,
    *,
    resume: bool,
    overwrite: bool,
) -> SlideRecord:
    """Take up the record in the folder, or make one."""
    content = digest_slide(path)
    if (out / RECORD_FILE).is_file() and not overwrite:
        if not resume:
            raise FileExistsError(f"the folder {out} holds a run already; resume it, overwrite it, or give another")
        earlier = SlideRecord.read(out)
        remove_drafts(out)
        known = earlier.statistics if given is None else given
        same = replace(earlier, slide=str(path), content=content, options=options, statistics=known)
        same = replace(same, models=options.cells.model_digests())
        if same.digest != earlier.digest or same.options.tile != earlier.options.tile:
            what = _find_difference(same.to_json(), earlier.to_json())
            raise ValueError(f"the run in {out} was another: {what}; give the same to resume it, or overwrite it")
        if same != earlier:
            same.write(out)
        return same
    if overwrite:
        _remove_run(out)
    told = slide.pixel_size
    size, origin = (options.cells.pixel_size, GIVEN) if options.cells.pixel_size is not None else told or (None, None)
    found = look_at_slide(slide, options, size) if given is None else given
    record = SlideRecord(str(path), content, slide.shape, found, options, options.cells.model_digests(), origin)
    out.mkdir(parents=True, exist_ok=True)
    record.write(out)
    return record


def _find_difference(now: dict[str, Any], then: dict[str, Any], place: str = "") -> str:
    """Say in which value two records differ."""
    for name, value in now.items():
        other = then.get(name)
        if isinstance(value, dict) and isinstance(other, dict) and value != other:
            return _find_difference(value, other, f"{place}{name}.")
        if value != other and name != "slide":
            return f"{place}{name} was {other!r}, now {value!r}"
    return "something has changed"


def _remove_run(out: Path) -> None:
    """Take away what an earlier run left, and nothing else."""
    (out / RECORD_FILE).unlink(missing_ok=True)
    for name in (WORK, *FORMATS.values()):
        if (out / name).is_dir():
            shutil.rmtree(out / name)
    for name in (CELLS_FILE, OTHERS_FILE, SUMMARY_FILE, *FORMATS.values()):
        (out / name).unlink(missing_ok=True)


def _run(store: Store, slide: Slide, client: Any, formats: tuple[str, ...], progress: Tell) -> SlideOutcome:
    tiles = list(range(len(store.grid)))
    out = str(store.out)

    def run_tiles(act: Act, tiles: list[int], stage: str, together: int = 1) -> None:
        done = 0
        progress(stage, done, len(tiles), 0)

        def count(more: int) -> None:
            nonlocal done
            done += more
            progress(stage, done, len(tiles), 0)

        do_all(client, do_tiles, make_tasks(act, out, tiles, together), count)

    find_all_clumps(store, tiles, run_tiles)
    plan = make_plan(store)
    _solve_all(store, plan, client, progress)
    cells = gather(store, plan)
    progress("writing", 0, 1, len(cells))
    files = write_files(store, cells, plan, slide, formats)
    pieces = open_run(out).load_pieces()
    outcome = SlideOutcome(store.record, len(cells), pieces.count, len(pieces.cuts), len(plan), files)
    progress("writing", 1, 1, len(cells))
    return outcome


def _solve_all(store: Store, plan: JobPlan, client: Any, progress: Tell) -> None:
    left = [job for job in range(len(plan)) if not store.has("cells", plan.names[job])]
    done, found = len(plan) - len(left), 0
    progress("cells", done, len(plan), 0)

    def count(cells: int) -> None:
        nonlocal done, found
        done, found = done + 1, found + cells
        progress("cells", done, len(plan), found)

    # Large jobs first, so that no worker is left with one in the end.
    left.sort(key=lambda job: (-plan.count_nuclei(job) // 50, job))
    tasks = []
    for job in left:
        first, last = plan.starts[job], plan.starts[job + 1]
        tasks.append(
            (str(store.out), plan.names[job], plan.pieces[first:last].tolist(), plan.extents[first:last].tolist())
        )
    do_all(client, solve, tasks, count)


def write_files(
    store: Store, cells: Gathered, plan: JobPlan, slide: Slide, formats: tuple[str, ...]
) -> tuple[Path, ...]:
    """Write the cells of a slide that is solved in all formats, each file whole or not at all."""
    out = store.out
    files = [out / CELLS_FILE, out / OTHERS_FILE, out / SUMMARY_FILE]
    write_parquet(cells, out / CELLS_FILE)
    tiles = list(range(len(store.grid)))
    others = describe_left(store, tiles, plan.pieces)
    named = {f"others_{name}": name for name in others}
    found = [store.load("cells", name, list(named)) for name in plan.names]
    every = {
        name: np.concatenate([others[name], *(content[told] for content in found)]) for told, name in named.items()
    }
    write_others(every, out / OTHERS_FILE)
    for name in formats:
        path = out / FORMATS[name]
        if name == "geojson":
            write_geojson(cells, path)
        elif name == "geoparquet":
            write_geoparquet(cells, path)
        elif name == "zarr":
            write_labels(open_slide_result(out), path)
        else:
            write_overview(cells, slide.read_overview(), path)
        files.append(path)
    pieces = open_run(str(out)).load_pieces()
    unseen = sum(not store.load("tiles", tile)["whole"] for tile in tiles)
    summary = {
        "cells": len(cells),
        "clumps": pieces.count,
        "clumps_cut": len(pieces.cuts),
        "others": len(every["areas"]),
        "tiles_with_spots_too_large": unseen,
        "record": store.record.digest,
        "statistics": store.statistics.to_record(),
    }
    write_atomically(out / SUMMARY_FILE, as_text(summary))
    return tuple(files)
