"""``run.json``: what a run of ``declump segment`` tells of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "run.json"


@dataclass(frozen=True)
class RunImage:
    """What became of one image.

    Attributes
    ----------
    path : str
        Where the image was; empty if that is not known.
    name : str
        Folder of its results, from that of the run on; subfolders have slashes.
    failed : bool
    reason : str
        Why it failed.
    seconds : float, optional
        How long it took.
    pixel_size : float, optional
        Micrometres a pixel.
    page : int or str, optional
        Which image of its file, counted from 1; of a focus stack the pages, as "1-20".
    """

    path: str
    name: str
    failed: bool = False
    reason: str = ""
    seconds: float | None = None
    pixel_size: float | None = None
    page: int | str | None = None


@dataclass(frozen=True)
class RunSummary:
    """A run; all is empty where it is not known.

    Attributes
    ----------
    version : str
        Of the declump that ran.
    command : str
    settings : mapping of str to value
    images : tuple of RunImage
    """

    version: str = ""
    command: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    images: tuple[RunImage, ...] = ()

    def image(self, name: str) -> RunImage:
        """Give what is known of the image whose results are in the folder of this name."""
        return next((image for image in self.images if image.name == name), RunImage("", name))


def read_run(folder: str | Path) -> RunSummary:
    """Read the ``run.json`` of a results folder.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    RunSummary
        Empty if there is no such file, as in folders that other commands or versions wrote.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        return RunSummary()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        images = tuple(_image(record) for record in content.get("images", ()))
        settings = dict(content.get("settings") or {})
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is damaged ({error}); remove it, or run 'declump segment' again") from error
    return RunSummary(str(content.get("version") or ""), _command(content.get("command")), settings, images)


def _image(record: Mapping[str, Any]) -> RunImage:
    path, seconds, pixel_size = str(record.get("path") or ""), record.get("seconds"), record.get("pixel_size")
    page = record.get("page")
    return RunImage(
        path,
        str(record.get("name") or Path(path).stem),
        record.get("status") == "failed",
        str(record.get("reason") or ""),
        None if seconds is None else float(seconds),
        None if pixel_size is None else float(pixel_size),
        page if isinstance(page, int | str) and not isinstance(page, bool) else None,
    )


def _command(given: Any) -> str:
    return " ".join(map(str, given)) if isinstance(given, list) else str(given or "")
