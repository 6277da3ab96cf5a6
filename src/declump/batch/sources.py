"""Which images a run is about: files, folders and patterns to images, each with the name of its results."""

from __future__ import annotations

import glob
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from declump._files import DRAFTS
from declump.errors import printable
from declump.images.decoding import find_format
from declump.images.stacks import Page
from declump.io import ENDINGS, list_images

OTHER_ENDINGS = (
    ".avif", ".czi", ".dcm", ".gif", ".heic", ".ims", ".jxl", ".lif", ".mrxs", ".nd2", ".ndpi", ".oib", ".oir", ".psd",
    ".qptiff", ".scn", ".svs", ".vsi",
)  # fmt: skip
"""Of images that are not read: to be passed over with a word, not in silence."""
SLIDE_ENDINGS = (".mrxs", ".ndpi", ".scn", ".svs")
"""Of those, what ``declump slide`` reads."""
LONGEST = 255
"""Bytes of the name of a file or folder, on all usual disks."""
RUN_FILE, IMAGES_FILE, COCO_FILE = "run.json", "images.csv", "coco.json"


@dataclass(frozen=True)
class Source:
    """One image.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        Folder of its results, relative to that of the run, with slashes.
    page : int or str, optional
        Which image of the file, counted from 1; of a focus stack the pages, as "1-20"; None if it is the only one.
    """

    path: Path
    name: str
    page: Page | None = None

    def __str__(self) -> str:
        """Say where the image is."""
        if self.page is None:
            return self.shown_path
        return f"{self.shown_path} page{'s' if isinstance(self.page, str) else ''} {self.page}"

    @property
    def shown_path(self) -> str:
        """The path with slashes, as people and files can have it."""
        return printable(self.path.as_posix())

    @property
    def fault(self) -> str:
        """Why no folder can be named after it; empty if one can."""
        parts = self.name.split("/")
        if any(part in ("", ".", "..") or part.startswith(DRAFTS) for part in parts):
            return "has a name that its results cannot have; rename it"
        if any(len(os.fsencode(part)) > LONGEST for part in parts):
            return f"has a name so long that its results would exceed the {LONGEST} bytes that disks take; shorten it"
        if printable(self.name) != self.name:
            return "has a name with letters that are not UTF-8 or cannot be printed; rename it"
        return ""


def find_sources(
    given: Iterable[str | Path],
    *,
    out: str | Path | None = None,
    note: Callable[[str], None] | None = None,
    stack: str = "fuse",
) -> list[Source]:
    """Find the images that are meant, and name them.

    Parameters
    ----------
    given : iterable of str or Path
        Files; folders, which stand for all images in them and in their subfolders; and patterns with ``*``, ``?``,
        ``[...]`` and ``**``. Hidden files and results of declump are passed over.
    out : str or Path, optional
        Folder of the results, passed over, too.
    note : callable, optional
        Called with a sentence on what else was passed over: the masks of a data set (those beside an ``image.png``, in
        ``cells``, ``objects`` and the like), and images of formats that are not read.
    stack : "fuse" or "planes"
        Whether the planes of a focus stack (Z) in a file are one image, or each is one; see
        :func:`declump.io.list_images`.

    Returns
    -------
    list of Source
        In the order given, those of a folder or pattern sorted. The results of a file are named by it, those of a
        folder or pattern by the path from there on, so that its subfolders are kept. Of two that differ in their ending
        only, the ending is part of the name. Each page of a TIFF is an image, or each focus stack.

    Raises
    ------
    FileNotFoundError
        If a file is missing, or a folder or pattern has no image.
    ValueError
        If the results of two images would have the same name, or a file of a format that is not read is named.
    """
    barred = None if out is None else Path(out).resolve()
    found: dict[Path, Source] = {}
    for entry in given:
        for path, name in _named(entry, barred, note or (lambda _sentence: None)):
            found.setdefault(path.resolve(), Source(path, name))
    namesakes: dict[str, list[Source]] = defaultdict(list)
    for source in found.values():
        namesakes[source.name].append(source)
    found = {place: _told_apart(source, namesakes[source.name]) for place, source in found.items()}
    sources = [page for source in found.values() for page in _pages(source, stack)]
    _check_names(sources)
    return sources


def _told_apart(source: Source, namesakes: Sequence[Source]) -> Source:
    """Put the ending into the name where another file beside differs in that only."""
    beside = {other.path.parent for other in namesakes} == {source.path.parent}
    if len(namesakes) == 1 or not beside or len({other.path.suffix for other in namesakes}) < len(namesakes):
        return source
    return replace(source, name=f"{source.name}-{source.path.suffix.removeprefix('.')}")


def _named(given: str | Path, barred: Path | None, note: Callable[[str], None]) -> Iterator[tuple[Path, str]]:
    path = Path(given)
    if path.is_file():
        _check_format(path)
        yield path, _stem(Path(path.name))
        return
    pattern = glob.has_magic(str(given)) and not path.exists()
    if not pattern and not path.is_dir():
        raise FileNotFoundError(f"there is no file {path}; give images, folders, or a pattern such as '*.png'")
    base = _fixed_part(path) if pattern else path
    paths = map(Path, glob.glob(str(given), recursive=True)) if pattern else _walked(path)  # noqa: PTH207 (absolute ones)
    places = sorted(place for place in paths if place.is_file() and not _is_result(place, base, barred))
    others = [place for place in places if place.suffix.lower() in OTHER_ENDINGS]
    masks = [place for place in places if _is_image(place) and _is_mask(place, base)]
    images = [place for place in places if _is_image(place) and not _is_mask(place, base)]
    if others:
        kinds = ", ".join(sorted({place.suffix.lower() for place in others}))
        note(f"passed over {len(others)} of formats that are not read ({kinds}) in {given}; save them as PNG or TIFF")
    if masks:
        found = f"{len(masks)} masks and focal planes of a data set in {given} (first {masks[0]})"
        note(f"passed over {found}; name files to segment them")
    if not images:
        raise FileNotFoundError(
            f"{f'the pattern {given}' if pattern else f'the folder {given}'} holds no image ({', '.join(ENDINGS)})"
        )
    for image in images:
        yield image, _stem(image.relative_to(base))


def _check_format(path: Path) -> None:
    """Refuse a file that was named itself if its format is not read; without a usual ending its content tells."""
    ending = path.suffix.lower()
    if ending in SLIDE_ENDINGS:
        raise ValueError(f"{path} has a format that is not read at once ({path.suffix}); give it to 'declump slide'")
    if ending in OTHER_ENDINGS:
        raise ValueError(f"{path} has a format that is not read ({path.suffix}); save it as PNG or TIFF")
    if ending not in ENDINGS:
        find_format(path)


def _stem(path: Path) -> str:
    """Path without its ending, with slashes; of an OME-TIFF without both endings."""
    plain = path.with_suffix("")
    return (plain.with_suffix("") if plain.suffix.lower() == ".ome" else plain).as_posix()


def _fixed_part(pattern: Path) -> Path:
    """Folder that a pattern starts from: what stands before its first part with a placeholder."""
    fixed = Path()
    for part in pattern.parts[:-1]:
        if glob.has_magic(part):
            break
        fixed /= part
    return fixed


def _walked(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place) / name for name in files if not name.startswith("."))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and path.is_file()


def _is_mask(path: Path, base: Path) -> bool:
    """Whether an image lies where data sets have masks and focal planes: beside the image of a frame, or in a folder.

    Planes in the folder that was given itself, the base, are meant.
    """
    if path.parent.name == "stack" and path.parent == base:
        return False
    if path.parent.name in ("cells", "objects", "stack") and (path.parent.parent / "image.png").is_file():
        return True
    return path.stem in ("nuclei", "clump") and (path.parent / "image.png").is_file()


def _is_result(path: Path, base: Path, barred: Path | None) -> bool:
    """Whether an image lies in results of declump, between it and where the search began."""
    if barred is not None and barred in path.resolve().parents:
        return True
    above = [place for place in path.parents if base in (place, *place.parents)]
    return any((place / RUN_FILE).is_file() for place in above)


def _pages(source: Source, stack: str) -> list[Source]:
    try:
        pages = list_images(source.path, stack=stack)
    except (OSError, ValueError, MemoryError):
        return [source]  # what is wrong with it is said when its turn comes
    if len(pages) == 1:
        return [replace(source, page=pages[0])]
    digits = max(4, len(str(len(pages))))
    return [Source(source.path, f"{source.name}-page{number:0{digits}d}", page) for number, page in enumerate(pages, 1)]


def _check_names(sources: Sequence[Source]) -> None:
    owner: dict[str, Source] = {}
    for source in sources:
        other = owner.setdefault(source.name, source)
        if other is not source:
            raise ValueError(
                f"two images are called {source.name} ({other.path} and {source.path}), so that their results would "
                "share a folder; rename one, or give the folder above them to keep their folders apart"
            )
    for source in sources:
        if source.name in (RUN_FILE, IMAGES_FILE, COCO_FILE):
            raise ValueError(f"{source.path} has the name of a file that tells of the run; rename it")
        for above in map(str, PurePosixPath(source.name).parents):
            if above in owner:
                raise ValueError(
                    f"the results of {source.path} would lie within those of {owner[above].path}; rename one, or "
                    "segment them into different folders"
                )
