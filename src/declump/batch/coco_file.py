"""One COCO file for all images of a run, joined from those of the images."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from declump._files import atomic_file
from declump.batch.sources import COCO_FILE, Source
from declump.io.formats import coco


def write_coco_file(sources: Sequence[Source], out: Path) -> None:
    """Join the COCO files of images into one, with ids of their own.

    Parameters
    ----------
    sources : sequence of Source
        Images that are done, each with a ``coco.json`` among its results.
    out : Path
        Folder of the run. It gets ``coco.json``, in which images are called by their paths from the folder that holds
        them all: copied there, it is what ``declump train`` reads. Pages of one file are told apart by ``#page=2``.
    """
    base = _common_folder(sources)
    images: list[dict[str, Any]] = []
    categories: list[dict[str, Any]] = []
    with atomic_file(out / COCO_FILE) as draft, draft.open("w", encoding="utf-8") as file:
        file.write('{"annotations":[')
        count = 0
        for number, source in enumerate(sources, start=1):
            # One image at a time, so that memory does not grow with the run.
            document = json.loads((out / source.name / coco.FILE).read_bytes())
            categories = document["categories"]
            page = "" if source.page is None else f"#page={source.page}"
            name = Path(os.path.relpath(source.path, base)).as_posix() + page
            images.append({**document["images"][0], "id": number, "file_name": name})
            for annotation in document["annotations"]:
                entry = {**annotation, "id": count + 1, "image_id": number, "cell": annotation["id"]}
                file.write(("," if count else "") + "\n" + json.dumps(entry, separators=(",", ":")))
                count += 1
        head = {
            "info": {"description": f"cells found by declump in {len(images)} images"},
            "licenses": [],
            "categories": categories,
            "images": images,
        }
        file.write("\n]," + json.dumps(head, separators=(",", ":"))[1:] + "\n")


def _common_folder(sources: Iterable[Source]) -> Path:
    """Folder, as near as can be, in which all images lie."""
    folders = [str(source.path.absolute().parent) for source in sources]
    return Path(os.path.commonpath(folders)) if folders else Path()
