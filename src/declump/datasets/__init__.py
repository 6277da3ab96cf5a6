"""Readers of public data sets: each gives annotated images, whole masks of every cell included."""

from collections.abc import Iterator
from pathlib import Path

from declump.datasets import coco, corrected, cric, isbi2014, isbi2015, labels, marked, objects, results, unmarked
from declump.datasets.annotated import AnnotatedImage
from declump.datasets.nuclei import assign_nuclei
from declump.io.slide_results import is_slide_results

__all__ = [
    "AnnotatedImage",
    "assign_nuclei",
    "coco",
    "corrected",
    "cric",
    "isbi2014",
    "isbi2015",
    "labels",
    "marked",
    "objects",
    "read",
    "read_known",
    "read_marked",
    "results",
    "unmarked",
]


def read(folder: str | Path) -> Iterator[AnnotatedImage]:
    """Read annotated images in any layout that is known, told by the files in a folder.

    Parameters
    ----------
    folder : str or Path
        With the Matlab files of the ISBI 2014 challenge (:mod:`declump.datasets.isbi2014`); or one folder a frame as
        in the ISBI 2015 challenge, which is also our own layout (:mod:`declump.datasets.isbi2015`); or pictures and
        their COCO file (:mod:`declump.datasets.coco`), called ``annotations.json`` or the only ``.json`` in the folder
        and no frames beside it; or one folder a picture with a mask an object (:mod:`declump.datasets.objects`); or
        label images and nothing else (:mod:`declump.datasets.labels`); or results that were reviewed
        (:mod:`declump.datasets.results`), of slides, too (:mod:`declump.datasets.corrected`). The path of a ``.json``
        file itself is read as a COCO file.

    Returns
    -------
    iterator of AnnotatedImage

    Raises
    ------
    FileNotFoundError
        If there is no such folder or file, or nothing in it is known.
    ValueError
        If a file cannot be read, or files do not belong together.
    """
    folder = Path(folder)
    if folder.suffix.lower() == ".json" and not folder.is_dir():
        return coco.read(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    if is_slide_results(folder):
        return corrected.read(folder)
    if results.is_results(folder):
        return results.read_results(folder)
    if (folder / isbi2014.IMAGES_FILE).exists():
        return isbi2014.read(folder)
    if (folder / "annotations.json").is_file():
        return coco.read(folder / "annotations.json")
    documents = list(folder.glob("*.json"))
    if documents and not any(folder.glob("*/image.png")):
        if len(documents) > 1:
            raise FileNotFoundError(f"{folder} holds several JSON files and no annotations.json; give the path of one.")
        return coco.read(documents[0])
    if any(folder.glob("*/objects")):
        return objects.read(folder)
    if labels.list_files(folder) and not any(folder.glob("*/image.png")):
        return labels.read(folder)
    return isbi2015.read(folder)


def read_known(folder: str | Path) -> Iterator[AnnotatedImage] | Iterator[marked.MarkedNuclei]:
    """Read all that is known of images: whole cells in any layout of :func:`read`, or marked nuclei alone."""
    folder = Path(folder)
    return marked.read(folder) if folder.is_dir() and marked.is_marked(folder) else read(folder)


def read_marked(folder: str | Path) -> Iterator[marked.MarkedNuclei]:
    """Read images of which at least the nuclei are known: marked ones, or any layout of :func:`read`."""
    folder = Path(folder)
    if folder.is_dir() and marked.is_marked(folder):
        return marked.read(folder)
    return map(marked.MarkedNuclei.from_cells, read(folder))
