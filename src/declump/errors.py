"""An error as one sentence for people."""

from __future__ import annotations

import struct
import zipfile
import zlib
from unicodedata import category

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
