"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

DRAFTS = ".declump-"
"""What names of drafts begin with."""


def check_free(folder: str | Path, *, overwrite: bool = False) -> None:
    """Refuse a folder that cannot or must not be written to, such as one that holds something already.

    Parameters
    ----------
    folder : str or Path
        May be missing.
    overwrite : bool
        Whether a folder that holds something is accepted.

    Raises
    ------
    FileExistsError
        If it is a file, or holds something.
    PermissionError
        If it, or the folder it is to be made in, may not be written to.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file; give a folder to write into")
    if folder.is_dir() and not overwrite and any(folder.iterdir()):
        raise FileExistsError(f"the folder {folder} is not empty; give a new or empty one, or ask to overwrite")
    if not os.access(_existing(folder), os.W_OK):
        raise PermissionError(f"{_existing(folder)} may not be written to; give another folder")


def check_links(folder: str | Path, names: Iterable[str | Path]) -> None:
    """Refuse to write what would go through a link, or take its place: that is not ours.

    Parameters
    ----------
    folder : str or Path
        May be a link itself, as whoever named it knows.
    names : iterable of str or Path
        Files and folders in it, with their path from there on.

    Raises
    ------
    FileExistsError
        If one of them, or a folder between, is a link.
    """
    folder = Path(folder)
    places = {place for name in map(Path, names) for place in (name, *name.parents) if place != Path()}
    for place in sorted(places):
        if (folder / place).is_symlink():
            raise FileExistsError(
                f"{folder / place} is a link, and declump writes through none; remove it, or give another folder"
            )


def file_digest(path: str | Path) -> str:
    """Tell the content of a file apart from any other: its SHA-256, read again only where the file has changed."""
    status = Path(path).stat()
    return _digest(Path(path).absolute(), status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _digest(path: Path, *_state: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Give a draft to write to, which takes the place of a file in the end.

    After an error, or an interruption, the file is as it was before; after a power cut it is the old or the new one.

    Parameters
    ----------
    path : str or Path
        In a folder that exists.

    Yields
    ------
    Path
        A file in the same folder that is to be written; it ends as the path does.
    """
    path = Path(path)
    # Of a run that was killed a process may live on for a moment, beside those that take it up.
    draft = path.with_name(f"{DRAFTS}{os.getpid()}-{path.name}")
    try:
        yield draft
        sync_file(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_atomically(path: str | Path, content: bytes | str) -> None:
    """Write a file whole or not at all (:func:`atomic_file`), text as UTF-8."""
    with atomic_file(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic_folder(folder: str | Path, *, overwrite: bool = False, own: Collection[str] = ()) -> Iterator[Path]:
    """Give a draft folder to write into, whose files move into place together in the end.

    After an error, or an interruption, the folder is as it was before. What comes into place is on the disk.

    Parameters
    ----------
    folder : str or Path
        Where the files are to be in the end; made if it is missing.
    overwrite : bool
        Whether the folder may hold something already: files of the same names are then replaced, others stay.
    own : collection of str
        Names that are removed from the folder when the draft has no file of that name, and with them the folders in it
        that they leave empty.

    Yields
    ------
    Path
        An empty folder on the same disk.

    Raises
    ------
    FileExistsError, PermissionError
        See :func:`check_free` and :func:`check_links`.
    """
    folder = Path(folder)
    check_free(folder, overwrite=overwrite)
    # Beside a missing folder, inside an existing one: its parent need not be ours to write to.
    with tempfile.TemporaryDirectory(prefix=DRAFTS, dir=_existing(folder)) as scratch:
        draft, replaced = Path(scratch) / "draft", Path(scratch) / "replaced"
        draft.mkdir()
        yield draft
        for path in draft.rglob("*"):
            if path.is_file():
                sync_file(path)
        if folder.is_dir():
            _move_files(draft, folder, replaced, own)
        else:
            folder.parent.mkdir(parents=True, exist_ok=True)
            draft.rename(folder)


def remove_drafts(folder: str | Path) -> None:
    """Clear away drafts that processes which were killed left in a folder; none may be writing into it now."""
    for draft in Path(folder).glob(f"{DRAFTS}*"):
        if draft.is_symlink():
            continue  # not ours
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Have the content of a file on the disk, before a name vouches for it."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _existing(folder: Path) -> Path:
    """Give the folder, or the nearest one above it that exists."""
    return next(place for place in (folder, *folder.absolute().parents) if place.is_dir())


def _move_files(draft: Path, folder: Path, replaced: Path, own: Collection[str]) -> None:
    """Move every file of the draft to the folder, and those it replaces out of the way; on failure put all back.

    Files come into place in the order of their names.
    """
    names = sorted(path.relative_to(draft) for path in draft.rglob("*") if path.is_file())
    check_links(folder, [*names, *own])
    for name in names:
        if (folder / name).is_dir():
            raise FileExistsError(f"{folder / name} is a folder where a file is to be written; move it away first")
    moves = [(folder / name, replaced / name) for name in {*names, *map(Path, own)} if (folder / name).is_file()]
    moves += [(draft / name, folder / name) for name in names]
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            done.append((source, target))
    except BaseException:
        for source, target in reversed(done):
            with suppress(OSError):
                target.rename(source)
        raise
    for name in map(Path, own):
        for place in [folder / above for above in name.parents if above != Path()]:
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()
