"""The page of a review, if what it needs is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from declump._installation import how_to_install
from declump.errors import MissingExtraError

NEEDED = ("starlette", "uvicorn", "websockets")


def serve(
    given: str | Path,
    out: str | Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str, Path], None],
) -> Path:
    """Serve the page of a review until Ctrl-C; see :func:`declump.review.server.serve.serve`.

    Raises
    ------
    MissingExtraError
        If a library that it needs is not installed.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"a review needs {', '.join(missing)}: {how_to_install('review')}")
    module = import_module("declump.review.server.serve")
    folder: Path = module.serve(Path(given), None if out is None else Path(out), host=host, port=port, ready=ready)
    return folder
