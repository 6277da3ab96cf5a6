"""From a slide to its clumps: tiles looked at, stitched, cleaned of specks and holes, and numbered.

Each function does one tile of one pass, and is run by the workers; a pass begins when the one before is stitched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from declump.pipelines.by_clump import OwnedCandidates, complete_by_nuclei, find_middles
from declump.pipelines.cutting import COARSE, coarsen, count_squares, make_cut
from declump.records.boxes import Box
from declump.records.spots import Spots
from declump.slides.opened import open_run
from declump.slides.stitching import CORNERS, SIDES, TilePieces, find_pieces, find_runs, stitch
from declump.slides.store import CLEAN, CLUMP, FILLED, NUMBERS, SIZES, Store

Act = Callable[[str, int], None]
"""Does a pass for one tile, in the folder of the results."""
TOGETHER, TASKS = 16, 64
"""Tiles of one task in passes without a network, as long as there are so many tasks: a tile takes no longer there than
a task costs its scheduler."""


class Map(Protocol):
    """Does a pass for many tiles, so many in one task, with a name for the progress."""

    def __call__(self, act: Act, tiles: list[int], stage: str, together: int = 1) -> None:
        """Do it, and come back when all is done."""


def do_tiles(act: Act, out: str, tiles: list[int]) -> int:
    """Do a pass for some tiles; give their number."""
    for tile in tiles:
        act(out, tile)
    return len(tiles)


def make_tasks(act: Act, out: str, tiles: list[int], together: int) -> list[tuple[Act, str, list[int]]]:
    """Give the arguments of :func:`do_tiles` for many tiles, so many at a time."""
    return [(act, out, tiles[first : first + together]) for first in range(0, len(tiles), together)]


def look_at_tile(out: str, tile: int) -> None:
    """Let the networks look at a tile: the clump goes into the Zarr store, spots into a file."""
    run = open_run(out)
    if run.store.has("tiles", tile):
        return
    box = run.store.grid.box(tile)
    found = run.finder.find(run.see, box)
    run.store.write(CLUMP, tile, found.clump)
    run.store.save("tiles", tile, {**found.spots.to_arrays(), "whole": np.array(found.whole)})


def find_background(out: str, tile: int) -> None:
    """Number the pieces of background of a tile: small ones are holes."""
    store = open_run(out).store
    _save_pieces(store, "background", tile, ~_read(store, CLUMP, tile), SIDES)


def find_filled(out: str, tile: int) -> None:
    """Number the pieces of clump, holes filled: small ones are specks."""
    run = open_run(out)
    clump = _read(run.store, CLUMP, tile)
    filled = clump | find_runs(~clump, SIDES).paint(run.choose("background", tile))
    run.store.write(FILLED, tile, filled)
    _save_pieces(run.store, "filled", tile, filled, SIDES)


def find_clumps(out: str, tile: int) -> None:
    """Number the clumps of a tile, specks left out."""
    run = open_run(out)
    clean = find_runs(_read(run.store, FILLED, tile), SIDES).paint(run.choose("filled", tile))
    run.store.write(CLEAN, tile, clean)
    _save_pieces(run.store, "clumps", tile, clean, CORNERS)


def number_clumps(out: str, tile: int) -> None:
    """Write the numbers that clumps have in the slide."""
    run = open_run(out)
    numbers = (run.load_stitched("clumps").of_tile(tile) + 1).astype(np.uint32)
    run.store.write(NUMBERS, tile, find_runs(_read(run.store, CLEAN, tile), CORNERS).paint(numbers))


def count_nuclei(out: str, tile: int) -> None:
    """Tell in which clumps the probable nuclei of a tile lie, by their middles."""
    run = open_run(out)
    spots = Spots.from_arrays(run.store.load("tiles", tile))
    spots = spots.choose(spots.probability >= run.record.options.cells.min_nucleus)
    places = find_middles(spots)
    around = _around(spots, run.store.grid.box(tile))
    at = run.store.read_numbers(around)[tuple((places - np.array(around[:2])).T)]
    run.store.save("nuclei", tile, {"places": places, "clumps": at.astype(np.int64)})


def own_tile_spots(out: str, tile: int) -> None:
    """Tell which piece each spot of a tile belongs to."""
    run = open_run(out)
    spots = Spots.from_arrays(run.store.load("tiles", tile))
    around = _around(spots, run.store.grid.box(tile))
    labels = run.load_pieces().number(run.store.read_numbers(around), around)
    owned = OwnedCandidates.find(spots, labels, around, run.record.options.cells.min_nucleus)
    run.store.save("owners", tile, {"owners": owned.owners, "accepted": owned.accepted, "areas": owned.areas})


def find_all_clumps(store: Store, tiles: list[int], run_tiles: Map) -> None:
    """Do all passes over the tiles."""
    run_tiles(look_at_tile, [tile for tile in tiles if not store.has("tiles", tile)], "regions")
    together = min(max(len(tiles) // TASKS, 1), TOGETHER)
    finder = open_run(str(store.out)).finder
    for name, act, structure, stage in (
        ("background", find_background, SIDES, "holes"),
        ("filled", find_filled, SIDES, "specks"),
        ("clumps", find_clumps, CORNERS, "clumps"),
    ):
        if store.has("stitched", name):
            continue
        run_tiles(act, [tile for tile in tiles if not store.has(name, tile)], stage, together)
        found = stitch(store.grid, lambda tile, name=name: _load_pieces(store, name, tile), structure)  # type: ignore[misc]  # a default argument
        arrays: dict[str, NDArray[Any]] = {
            "starts": found.starts,
            "member": found.member,
            "areas": found.areas,
            "boxes": found.boxes,
        }
        if name == "background":
            arrays["chosen"] = found.areas < int(finder.max_hole_area) + 1
        elif name == "filled":
            arrays["chosen"] = found.areas >= finder.min_clump_area
        store.save("stitched", name, arrays)
    if store.has("stitched", "pieces"):
        return
    uncounted = [tile for tile in tiles if not store.has("nuclei", tile)]
    run_tiles(number_clumps, uncounted, "numbers", together)
    run_tiles(count_nuclei, uncounted, "nuclei", together)
    if not store.has("stitched", "cuts"):
        _cut_clumps(store, tiles)
    run_tiles(own_tile_spots, [tile for tile in tiles if not store.has("owners", tile)], "owners", together)
    _measure_sizes(store, tiles)
    store.save("stitched", "pieces", {"done": np.array(True)})


def _measure_sizes(store: Store, tiles: list[int]) -> None:
    """Complete the statistics of the slide by its clumps and its accepted nuclei."""
    run, farthest = open_run(str(store.out)), 0
    owners, areas = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for tile in tiles:
        owned, boxes = store.load("owners", tile), store.load("tiles", tile, ("boxes",))["boxes"]
        owners.append(owned["owners"][owned["accepted"]])
        areas.append(owned["areas"][owned["accepted"]])
        farthest = max(farthest, int((boxes[:, 2:] - boxes[:, :2]).max(initial=0)))
    sizes = run.load_stitched("clumps").areas
    found = complete_by_nuclei(
        store.record.statistics,
        sizes,
        run.load_pieces(),
        np.concatenate(owners),
        np.concatenate(areas),
        run.solver.prior,
    )
    told = {name: np.array(getattr(found, name)) for name in SIZES}
    store.save("stitched", "sizes", {**told, "farthest": np.array(farthest)})


def _cut_clumps(store: Store, tiles: list[int]) -> None:
    """Cut the clumps that are above the limits."""
    run = open_run(str(store.out))
    found, limits = run.load_stitched("clumps"), store.record.options.limits
    members = [store.load("nuclei", tile) for tile in tiles]
    at = np.concatenate([np.empty(0, np.int64), *(part["clumps"] for part in members)])
    places = np.concatenate([np.empty((0, 2), np.int64), *(part["places"] for part in members)])
    counts = np.bincount(at, minlength=len(found.areas) + 1)
    first = len(found.areas) + 1
    numbers, firsts = [], []
    for number in range(1, len(found.areas) + 1):
        extent = Box(*found.boxes[number - 1].tolist())
        if limits.hold(extent, int(counts[number])):
            continue
        own = places[at == number]
        own = own[np.lexsort((own[:, 1], own[:, 0]))]
        cut = make_cut(_read_squares(store, extent, number), extent, own, limits, first)
        store.save("cuts", number, {"extent": np.array(extent), "parts": cut.parts, "first": np.array(first)})
        numbers.append(number)
        firsts.append(first)
        first += len(cut)
    store.save("stitched", "cuts", {"clumps": np.array(numbers, np.int64), "firsts": np.array(firsts, np.int64)})


def _read_squares(store: Store, extent: Box, number: int) -> NDArray[np.bool_]:
    """Squares that one clump touches, tile by tile: the pixels of a large one are never all in memory."""
    squares, (first, second, *_) = np.zeros(count_squares(extent), np.bool_), extent
    for tile in store.grid.find_meeting(extent):
        part = store.grid.box(tile).meet(extent)
        touched = coarsen(store.read_numbers(part) == number, part)
        row, column = part.top // COARSE - first // COARSE, part.left // COARSE - second // COARSE
        squares[row : row + touched.shape[0], column : column + touched.shape[1]] |= touched
    return squares


def _around(spots: Spots, box: Box) -> Box:
    """Box that holds a tile and all its spots."""
    if not len(spots):
        return box
    low, high = spots.boxes[:, :2].min(axis=0), spots.boxes[:, 2:].max(axis=0)
    return Box(*np.minimum(low, box[:2]).tolist(), *np.maximum(high, box[2:]).tolist())


def _read(store: Store, name: str, tile: int) -> NDArray[np.bool_]:
    return np.asarray(store.arrays[name][store.grid.box(tile).slices]) > 0


def _save_pieces(store: Store, name: str, tile: int, mask: NDArray[np.bool_], structure: NDArray[np.int_]) -> None:
    box = store.grid.box(tile)
    store.save(name, tile, vars(find_pieces(mask, (box.top, box.left), structure)))


def _load_pieces(store: Store, name: str, tile: int) -> TilePieces:
    return TilePieces(**store.load(name, tile))
