"""Awkward input by the thousand: what the API, the readers of files and the models do with it.

python benchmarks/fuzz.py [--minutes N | --cases N] [--first SEED] [--jobs N] [--state FILE] [--write]

Each case follows from its number alone: ``--first 1234 --cases 1`` tries case 1234 again. A case is passed if it gives
a result that holds together, or an error that says what is wrong (``ValueError``, ``TypeError``, or a missing file), of
files with the name of the file. Cases run in processes of their own, so that one that ends its process, or hangs, is
found, too. A long run can be had in parts: what was counted is kept in ``--state``, and the same command goes on from
there. ``--write`` puts the figures into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from PIL import Image

import declump
from batch import processor_seconds
from declump import io
from declump.models import model_path, open_model
from pages import replace_part
from parts import Tally

PAGE, PART = "docs/reliability.md", "fuzz"
LIMIT = 60.0
"""Seconds of the processor after which a case counts as hanging: of a process that loads first, too."""
PATIENCE = 1200.0
"""The same by the clock, for what waits for ever; long, as the machine may have other work."""
BATCH = 50
"""Cases that a process is given at a time."""
PART_OF_A_RUN = 4000
"""Cases after which what was counted is kept."""
DRAWN = 60
"""Smears, and results, that are drawn or written once for all cases: what is tried is not how they are made."""
Rng = np.random.Generator
EXPECTED = (ValueError, TypeError, FileNotFoundError)


class BrokenError(Exception):
    """A result that does not hold together."""


# What is tried: each gives the number of cells it found, or raises


def evolve(rng: Rng, _folder: Path) -> int:
    mask = _mask(rng)
    seeds = _seeds(rng, mask)
    name = str(rng.choice(["default", "round", "nucleus"]))
    how: dict[str, Any] = {"prior": name if rng.random() < 0.02 else _prior(name)}
    if rng.random() < 0.3:
        how["scale"] = float(10 ** rng.uniform(-2, 0.5))
    if rng.random() < 0.2:
        how["setting"] = "paper"
    if rng.random() < 0.3:
        how["evidence"] = _evidence(rng, len(seeds), mask.shape)
    if rng.random() < 0.05:
        mask, seeds = _spoil(rng, mask, seeds)
    result = declump.evolve(mask, seeds, **how)
    _check(result)
    found = np.any(result.masks, axis=0) if len(result) else np.zeros(mask.shape, bool)
    # A cell may lie on the pixels of another clump, where its own clump counts it.
    if len(result.clumps) == 1 and result.energy.sum() != np.count_nonzero(found != (mask != 0)):
        raise BrokenError(f"the energy is {result.energy.sum()}, but {np.count_nonzero(found != (mask != 0))} differ")
    return int((result.areas > 0).sum())


def segment(rng: Rng, _folder: Path) -> int:
    image: Any = _smear(int(rng.integers(DRAWN)))
    top, left = (int(value) for value in rng.integers(0, 20, 2))
    image = np.rot90(image[top:, left:], int(rng.integers(4)))
    turn = rng.integers(8)
    if turn == 1:
        image = image.astype(np.uint16) * 257
    elif turn == 2:
        image = image / 255.0
    elif turn == 3:
        image = 255 - image
    elif turn == 4:
        image = np.clip(image + rng.normal(0, 60, image.shape), 0, 255).astype(np.uint8)
    elif turn == 5:
        image = image[..., :2] if image.ndim == 3 else image[:, :, None]
    elif turn == 6:
        image = image.astype(float) * 10.0 ** rng.integers(-300, 300)
    result = declump.segment(image, evidence="clump" if rng.random() < 0.7 else None)
    _check(result)
    declump.measure(result, np.asarray(image))
    return len(result)


def split(rng: Rng, _folder: Path) -> int:
    result = declump.split(_mask(rng))
    _check(result)
    return len(result)


def read_result(rng: Rng, folder: Path) -> int:
    name = str(rng.choice([name for name, entry in io.FORMATS.items() if entry.read]))
    path, content = folder / io.FORMATS[name].file, _written(name, int(rng.integers(DRAWN)))
    if content is None:
        return 0
    path.write_bytes(content)
    _mutate(rng, path, often=0.7)
    result = _by_name(path, lambda: io.read(path))
    if np.prod(result.shape) < 1e7 and np.max(result.radii, initial=0) < 1e5:
        _check(result)
    return len(result)


def read_image(rng: Rng, folder: Path) -> int:
    pixels = rng.integers(0, 256, (int(rng.integers(1, 40)), int(rng.integers(1, 40)), 3)).astype(np.uint8)
    if rng.random() < 0.5:
        pixels = np.where(pixels[:, :, :1] > 127, np.uint8([255, 255, 255]), np.uint8(0))  # a mask
    kind = rng.integers(5)
    path = folder / ("a.png", "a.jpg", "a.tif", "b.tif", "c.tif")[kind]
    if kind < 2:
        Image.fromarray(pixels).save(path)
    elif kind == 2:
        tifffile.imwrite(path, pixels, compression=str(rng.choice(["zlib", "none"])))
    elif kind == 3:
        tifffile.imwrite(path, np.stack([pixels[..., 0]] * 3), photometric="minisblack", ome=True)
    else:
        Image.fromarray(pixels).save(path, compression=str(rng.choice(["tiff_lzw", "jpeg", "packbits"])))
    _mutate(rng, path, often=0.9)
    io.read_pixel_size(path)
    for page in range(1, min(_by_name(path, lambda: io.count_images(path)), 5) + 1):
        _by_name(path, lambda page=page: io.read_image(path, page=page))
    reader = io.read_mask if rng.random() < 0.5 else io.read_labels
    _by_name(path, lambda: reader(path))
    return 0


def load_prior(rng: Rng, folder: Path) -> int:
    path = folder / "prior.npz"
    path.write_bytes(Path(declump.__file__).with_name("data").joinpath("nucleus.npz").read_bytes())
    _mutate(rng, path, often=0.95)
    prior = _by_name(path, lambda: declump.ShapePrior.load(path))
    result = declump.evolve(*_disc(), prior=prior)
    _check(result)
    return len(result)


def load_model(rng: Rng, folder: Path) -> int:
    path = folder / "rays.onnx"
    path.write_bytes(model_path("default", "rays.onnx").read_bytes())
    _mutate(rng, path, often=1.0)
    _by_name(path, lambda: open_model(path, "ray model"))
    return 0


TRIED: dict[Callable[[Rng, Path], int], float] = {
    evolve: 0.4, split: 0.06, segment: 0.04, read_result: 0.35, read_image: 0.1, load_prior: 0.04, load_model: 0.01,
}  # fmt: skip
"""What is tried, with its share of the cases."""


# What it is made of


def _mask(rng: Rng) -> np.ndarray:
    """Discs, rings, bars and noise, alone or together, on a small image; one in fifty is larger."""
    large = rng.random() < 0.02
    height, width = rng.integers(8, 110 if large else 56, 2)
    rows, columns = np.ogrid[:height, :width]
    mask = np.zeros((height, width), bool)
    for _ in range(rng.integers(1, 4)):
        row, column = rng.uniform(0, height), rng.uniform(0, width)
        radius, kind = rng.uniform(1, 35 if large else 18), rng.integers(4)
        distance = np.hypot(rows - row, (columns - column) * rng.uniform(0.4, 2))
        if kind == 0:
            mask |= (distance < radius) & (distance > rng.uniform(0, 0.8) * radius)
        elif kind == 1:
            mask |= np.abs(rows - row + (columns - column) * rng.uniform(-1, 1)) < radius / 5
        else:
            mask |= distance < radius
    if rng.random() < 0.1:
        noise = rng.random((min(height, 24), min(width, 24))) < rng.uniform(0, 0.3)
        mask[:24, :24] ^= noise
    return mask


@lru_cache
def _prior(name: str) -> declump.ShapePrior:
    return declump.ShapePrior.load(name)


@lru_cache
def _smear(number: int) -> np.ndarray:
    """A small smear of 60 to 120 pixels, grey or in colour."""
    rng = np.random.default_rng(number)
    side = [int(value) for value in rng.integers(60, 120, 2)]
    return declump.simulate.smear(
        (side[0], side[1]), cells=int(rng.integers(1, 5)), radius=float(rng.uniform(16, 32)),
        stain=str(rng.choice(["grey", "pap", "he"])), rng=number,
    ).image  # fmt: skip


@lru_cache(maxsize=1000)
def _written(name: str, number: int) -> bytes | None:
    """A file of results in one of the formats; None for one that is not written without cells."""
    with tempfile.TemporaryDirectory() as folder:
        io.write_results(_some_cells(np.random.default_rng(number)), folder, formats=(name,))
        path = Path(folder, io.FORMATS[name].file)
        return path.read_bytes() if path.exists() else None


def _disc() -> tuple[np.ndarray, list[tuple[int, int]]]:
    rows, columns = np.mgrid[:60, :60]
    return np.hypot(rows - 30, columns - 30) < 20, [(30, 30)]


def _seeds(rng: Rng, mask: np.ndarray) -> np.ndarray:
    """A few different pixels, most of them in the mask."""
    count = int(rng.integers(0, 5))
    places = np.argwhere(mask if mask.any() and rng.random() < 0.95 else np.ones_like(mask))
    return rng.permutation(places)[:count].astype(float)


def _evidence(rng: Rng, count: int, shape: tuple[int, ...]) -> declump.Evidence:
    rays = rng.uniform(0, 60, (count, 64)), rng.uniform(0.5, 30, (count, 64))
    if rng.random() < 0.5:
        return declump.Evidence(*rays)
    return declump.Evidence(*rays, rng.uniform(0, 4, shape), rng.uniform(0.1, 2, shape))


def _spoil(rng: Rng, mask: Any, seeds: Any) -> tuple[Any, Any]:
    wrong = [np.nan, 1e300, -5.0]
    options = [
        (mask, np.append(seeds, [[wrong[rng.integers(3)]] * 2], axis=0)),
        (mask, np.repeat(seeds, 2, axis=0)),
        (mask.astype(float) * 0.5, seeds),
        (mask[None], seeds),
        (np.ma.masked_array(mask), seeds),
        (mask, "seeds"),
    ]
    return options[rng.integers(len(options))]


def _some_cells(rng: Rng) -> declump.Segmentation:
    count, rays = int(rng.integers(0, 4)), int(rng.choice([16, 36, 90]))
    shape = (int(rng.integers(5, 60)), int(rng.integers(5, 60)))
    nuclei = np.zeros(shape, np.int32)
    for index in range(count):
        nuclei[rng.integers(shape[0]), rng.integers(shape[1])] = index + 1
    return declump.Segmentation(
        shape,
        rng.uniform(0, min(shape), (count, 2)),
        rng.uniform(0, 25, (count, rays)),
        np.zeros(count, np.int64),
        nuclei=nuclei if rng.random() < 0.5 else None,
    )


def _mutate(rng: Rng, path: Path, often: float) -> None:
    """Damage a file: bytes flipped, cut, repeated or put in; numbers of a text made huge."""
    content = bytearray(path.read_bytes())
    if rng.random() > often:
        return
    for _ in range(rng.integers(1, 6)):
        place, kind = int(rng.integers(0, max(len(content), 1))), rng.integers(6)
        length = int(rng.integers(1, 40))
        if kind == 0 and content:
            content[place] ^= int(rng.integers(1, 256))
        elif kind == 1:
            del content[place : None if rng.random() < 0.2 else place + length]
        elif kind == 2:
            content[place:place] = content[place : place + length] * int(rng.integers(1, 5))
        elif kind == 3:
            content[place:place] = rng.integers(0, 256, length).astype(np.uint8).tobytes()
        elif kind == 4:
            content[place : place + 1] = [b"9" * 30, b"-1", b"NaN", b"1e999", b"[[[[", b"null", b"\0"][rng.integers(7)]
        else:
            other = int(rng.integers(0, max(len(content), 1)))
            content[place : place + length] = content[other : other + length]
    path.write_bytes(bytes(content))


def _by_name(path: Path, read: Callable[[], Any]) -> Any:
    """Read a file; what is wrong with it must be said with its name."""
    try:
        return read()
    except EXPECTED as error:
        if path.name not in str(error):
            raise BrokenError(f"an error without the name of the file: {error!r}") from error
        raise


def _check(result: declump.Segmentation) -> None:
    if not (np.isfinite(result.radii).all() and (result.radii >= 0).all() and np.isfinite(result.areas).all()):
        raise BrokenError("radii or areas that are no numbers")
    if result.masks.shape != (len(result), *result.shape):
        raise BrokenError(f"masks of shape {result.masks.shape}")


# How it is tried


@dataclass
class Cases(Tally):
    """What became of the cases."""

    cases: int = 0
    found: int = 0
    refused: int = 0
    slowest: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, number: int, kind: str, outcome: str, seconds: float) -> None:
        """Count a case, and say at once what is wrong with it."""
        self.cases += 1
        self.kinds[kind] += 1
        self.found += outcome == "cells"
        self.refused += outcome == "refused"
        self.slowest = max(self.slowest, seconds)
        if outcome not in ("cells", "nothing", "refused"):
            self.faults.append(f"case {number} ({kind}): {outcome}")
            print(self.faults[-1], file=sys.stderr, flush=True)


def try_case(number: int, folder: Path) -> tuple[str, str]:
    """Try one case; give what was tried, and what became of it."""
    rng = np.random.default_rng(number)
    shares = np.array(list(TRIED.values()))
    act = list(TRIED)[rng.choice(len(shares), p=shares / shares.sum())]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for ours in (UserWarning, RuntimeWarning):
                warnings.simplefilter("ignore" if ours is UserWarning else "error", ours)
            return act.__name__, "cells" if act(rng, folder) else "nothing"
    except EXPECTED:
        return act.__name__, "refused"
    except MemoryError as error:
        return act.__name__, f"out of memory: {error}"
    except BaseException:  # whatever it is, it is what is looked for
        return act.__name__, " | ".join(traceback.format_exc().splitlines()[-3:])


def serve(connection: Any) -> None:
    """Run in a process of its own: take numbers of cases, answer each."""
    with tempfile.TemporaryDirectory() as scratch:
        while (numbers := connection.recv()) is not None:
            for number in numbers:
                start = time.process_time()
                connection.send((number, *try_case(number, Path(scratch)), time.process_time() - start))


def run(tally: Cases, first: int, cases: int, end: float, jobs: int) -> None:
    """Try so many cases, or those that are begun before the time is over, and count them."""
    context = multiprocessing.get_context("spawn")
    upcoming: int = first
    workers: list[dict[str, Any]] = []

    def give(worker: dict[str, Any]) -> None:
        nonlocal upcoming
        left = min(BATCH, first + cases - upcoming)
        if left <= 0 or time.monotonic() > end:
            worker["numbers"] = []
            return
        worker["numbers"] = list(range(upcoming, upcoming + left))
        upcoming += left
        worker["pipe"].send(worker["numbers"].copy())
        note(worker)

    def note(worker: dict[str, Any]) -> None:
        worker["since"], worker["spent"] = time.monotonic(), processor_seconds(worker["process"].pid)

    def hangs(worker: dict[str, Any]) -> bool:
        spent = processor_seconds(worker["process"].pid) - worker["spent"]
        return spent > LIMIT or time.monotonic() - worker["since"] > PATIENCE

    def start() -> dict[str, Any]:
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return {"process": process, "pipe": ours, "numbers": []}

    for _ in range(jobs):
        workers.append(start())
        give(workers[-1])
    while any(worker["numbers"] for worker in workers):
        for index, worker in enumerate(workers):
            if not worker["numbers"]:
                continue
            number = worker["numbers"][0]
            try:
                if worker["pipe"].poll(0.05):
                    _, kind, outcome, seconds = worker["pipe"].recv()
                    tally.add(number, kind, outcome, seconds)
                    worker["numbers"].pop(0)
                    note(worker)
                elif hangs(worker):
                    worker["process"].kill()
            except (EOFError, ConnectionError):
                worker["process"].join()
                code = worker["process"].exitcode
                tally.add(number, "?", f"its process ended or was stopped after {LIMIT:g} s (exit code {code})", LIMIT)
                left, workers[index] = worker["numbers"][1:], start()
                worker = workers[index]
                worker["numbers"] = left
                worker["pipe"].send(left.copy())
                note(worker)
            if not worker["numbers"]:
                give(worker)
    for worker in workers:
        with suppress(OSError):
            worker["pipe"].send(None)
        worker["process"].join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--state", type=Path, help="file in which a run that is done in parts is counted")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.minutes is None and given.cases is None:
        given.cases = 1000
    tally, end = Cases.read(given.state), time.monotonic() + 60 * (given.minutes or 1e9)
    while (left := (given.cases or 10**9) - tally.cases) > 0 and time.monotonic() < end:
        start = time.monotonic()
        run(tally, given.first + tally.cases, min(left, PART_OF_A_RUN), end, given.jobs)
        tally.minutes += (time.monotonic() - start) / 60
        tally.keep(given.state)
    rows = [
        ("cases", f"{tally.cases} in {tally.minutes:.1f} minutes by {given.jobs} processes"),
        ("of them", ", ".join(f"{name} {count}" for name, count in tally.kinds.most_common())),
        ("found cells", f"{tally.found} ({tally.found / max(tally.cases, 1):.0%})"),
        ("refused with a sentence", str(tally.refused)),
        ("slowest case", f"{tally.slowest:.1f} s of the processor"),
        ("faults", str(len(tally.faults))),
    ]
    text = "\n".join(["| fuzzing | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])
    print(text)
    if given.write:
        how = f"`python benchmarks/fuzz.py --first {given.first} --cases {tally.cases}` at {', '.join(tally.commits)}"
        replace_part(PAGE, PART, f"{text}\n\n{how}.")
    if tally.faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
