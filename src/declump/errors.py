"""An error as one sentence for people."""

from __future__ import annotations


def sentence(error: BaseException) -> str:
    """Put an error into one sentence for the user."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory for this ({error or 'out of memory'}); try a smaller image"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, OSError | ValueError):
        return " ".join(str(error).split())
    return (
        f"something went wrong that should not ({type(error).__name__}: {error}); "
        "please report it with what DECLUMP_DEBUG=1 shows"
    )
