"""The record of a run over a slide: all that its cells follow from, found once, shown, and kept in ``record.json``."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from declump import __version__
from declump._files import write_atomically
from declump.io.slide_results import RECORD_FILE, RECORD_FORMAT
from declump.records.statistics import ImageStatistics
from declump.regions.looking import look_at_image
from declump.slides.options import SlideOptions
from declump.slides.readers import Slide

_PROBE = 2**20
"""Bytes at both ends of a file that tell it apart from another of the same length."""


@dataclass(frozen=True)
class SlideRecord:
    """All that the cells of a slide follow from.

    Attributes
    ----------
    slide : str
        Path of the slide.
    content : str
        Tells its content apart: by its length, and by its first and last megabyte.
    shape : (H, W)
    statistics : ImageStatistics
        The sizes of cells and nuclei come from the regions (:attr:`declump.slides.store.Store.statistics`), unless they
        were given.
    options : SlideOptions
    models : dict
        Digests of the networks and of the prior.
    pixel_size_from : str, optional
        Who says how large a pixel is.
    """

    slide: str
    content: str
    shape: tuple[int, int]
    statistics: ImageStatistics
    options: SlideOptions
    models: dict[str, str | None]
    pixel_size_from: str | None

    def to_json(self) -> dict[str, Any]:
        """Give what ``record.json`` holds."""
        return {
            "format": RECORD_FORMAT,
            "version": __version__,
            "slide": self.slide,
            "content": self.content,
            "shape": list(self.shape),
            "statistics": self.statistics.to_record(),
            "pixel_size_from": self.pixel_size_from,
            "options": self.options.to_record(),
            "tile": self.options.tile,
            "models": self.models,
        }

    @property
    def digest(self) -> str:
        """Tells what cells follow from apart: neither the place of the slide nor the tiles belong to it."""
        content = self.to_json()
        del content["slide"], content["tile"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def write(self, out: Path) -> None:
        """Write ``record.json``."""
        write_atomically(out / RECORD_FILE, json.dumps(self.to_json(), indent=1) + "\n")

    @classmethod
    def read(cls, out: Path) -> SlideRecord:
        """Read ``record.json`` of a results folder."""
        path = out / RECORD_FILE
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            if told["version"] != __version__:
                raise ValueError(f"it was made by declump {told['version']}, this is {__version__}")
            return cls(
                str(told["slide"]),
                str(told["content"]),
                (int(told["shape"][0]), int(told["shape"][1])),
                ImageStatistics.from_record(told["statistics"]),
                SlideOptions.from_record(told["options"], int(told["tile"])),
                dict(told["models"]),
                told["pixel_size_from"],
            )
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"{path} cannot be taken up ({error}); overwrite it, or give another folder") from error


def digest_slide(path: Path) -> str:
    """Tell a slide apart from another without reading gigabytes."""
    if path.is_dir():  # of a Zarr folder, the description
        digest = hashlib.sha256()
        names = ("zarr.json", ".zattrs", ".zarray")
        for part in sorted(place for place in path.rglob("*") if place.name in names):
            digest.update(part.read_bytes())
        return digest.hexdigest()
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        digest.update(file.read(_PROBE))
        file.seek(max(size - _PROBE, 0))
        digest.update(file.read(_PROBE))
    return digest.hexdigest()


def look_at_slide(slide: Slide, options: SlideOptions, pixel_size: float | None) -> ImageStatistics:
    """Find what is taken from a slide before its regions, by its pixels at the full resolution and its size alone."""
    found = look_at_image(slide.read, slide.shape, options.cells.region_options(pixel_size))
    return replace(found.statistics, pixel_size=pixel_size)
