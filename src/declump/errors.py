"""An error as one sentence for people."""

from __future__ import annotations

import errno
import struct
import zipfile
import zlib
from pathlib import Path
from unicodedata import category

HELP_PAGE = Path(__file__).parent / "help" / "errors.html"
"""Page that ships with declump and tells of each kind of error; it needs no network."""


class MissingExtraError(ValueError):
    """A library that only some functions need is not installed."""


class UnreadableFileError(ValueError):
    """A file is none that declump reads, or is damaged."""


BROKEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    EOFError,
    RuntimeError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)
"""What a damaged file, or one that was made to do harm, may lead its reader to."""

_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")
"""Control characters, halves of characters, as bytes that are no UTF-8 become, and ends of lines."""


def printable(text: str) -> str:
    """Write characters that would steer a terminal, or that no file can hold, as escapes: names may be anything."""
    return "".join(repr(letter)[1:-1] if category(letter) in _UNPRINTABLE else letter for letter in text)


def raise_ending(error: BaseException) -> None:
    """Raise the interruption or exit that lies behind an error, if one does; for all who catch whatever goes wrong.

    Where a signal arrives while compiled code hands over its result, Python raises a ``SystemError`` in place of what
    the handler of the signal raised, and more of them where several calls end one after the other: not a fault of the
    work at hand, but the end of the process.
    """
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    if cause is not None and not isinstance(cause, Exception):
        raise cause


def reason_of(error: BaseException) -> str:
    """Say in a few words what a reader stumbled over."""
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return printable(" ".join(str(error).split())) or type(error).__name__


def sentence(error: BaseException) -> str:
    """Put an error into one sentence for the user."""
    return printable(" ".join(_describe(error).split()))


def help_address(error: BaseException) -> str:
    """Address of what the help page says of an error."""
    return f"{HELP_PAGE.as_uri()}#{help_anchor(error)}"


def help_anchor(error: BaseException) -> str:
    """Anchor in the help page of an error's kind."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return "disk"
    for kind, anchor in ANCHORS.items():
        if isinstance(error, kind):
            return anchor
    return "bug"


ANCHORS: dict[type[BaseException], str] = {
    MemoryError: "memory",
    MissingExtraError: "extra",
    UnreadableFileError: "unreadable",
    FileNotFoundError: "no-file",
    FileExistsError: "not-empty",
    PermissionError: "not-allowed",
    BlockingIOError: "in-use",
    ChildProcessError: "memory",
    ConnectionError: "cluster",
    OSError: "disk",
    ValueError: "value",
}
"""Kinds of errors, the narrower ones first, and where the help page tells of them."""


def _describe(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return f"there is not enough memory for this ({error or 'out of memory'}); try a smaller image"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, OSError | ValueError):
        return str(error)
    return (
        f"something went wrong that should not ({type(error).__name__}: {error}); "
        "please report it with what DECLUMP_DEBUG=1 shows"
    )
