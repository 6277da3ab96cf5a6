"""The server of a review: it listens on one address until it is interrupted."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from declump.review.albums import find_album
from declump.review.server.app import make_app
from declump.review.server.guard import address, allowed_hosts
from declump.review.server.hub import Hub


def serve(
    given: Path, out: Path | None = None, *, host: str = "127.0.0.1", port: int = 0, ready: Callable[[str, Path], None]
) -> Path:
    """Serve the page of a review until Ctrl-C.

    Parameters
    ----------
    given, out
        See :func:`declump.review.albums.find_album`.
    host : str
        Address to listen on.
    port : int
        0 takes one that is free.
    ready : callable
        Called with the address to open and the folder of the results, once the server listens.

    Returns
    -------
    Path
        Folder of the results.
    """
    album = find_album(given, out)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with album.hold(), socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise OSError(f"port {port} of {host} cannot be listened on ({error.strerror}); give another") from error
        number = int(listener.getsockname()[1])
        token = secrets.token_urlsafe(32)
        app = make_app(Hub(album), token, allowed_hosts(host, number))
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, ws="websockets-sansio", ws_max_size=2**16, server_header=False,
            date_header=False, timeout_graceful_shutdown=2, proxy_headers=False,
        )  # fmt: skip
        server = _Server(config, lambda: ready(address(host, number, token), album.out))
        with suppress(KeyboardInterrupt):  # raised once more when all has ended
            server.run(sockets=[listener])
    return album.out


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()
