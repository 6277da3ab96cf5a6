"""``overlay.png``: the outlines drawn over the image."""

from __future__ import annotations

import json
from pathlib import Path

from declump.io.formats.parts.metadata import KEY, make_metadata
from declump.io.formats.parts.result import Result
from declump.pictures import overlay

FILE = "overlay.png"


def write(result: Result, path: Path) -> None:
    """Write the picture of :func:`declump.pictures.overlay`."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    text = PngInfo()
    text.add_text(KEY, json.dumps(make_metadata(result.segmentation, "overlay")))
    drawn = overlay(result.segmentation, result.image, others=result.others, numbers=result.numbers)
    Image.fromarray(drawn).save(path, pnginfo=text, compress_level=1)
