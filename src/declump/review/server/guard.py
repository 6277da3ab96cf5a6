"""Who may ask what: one person, at one address, from one page."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOGIN = "/api/login"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
WILDCARDS = ("0.0.0.0", "::", "")
LONGEST_BODY = 4 * 2**20
"""Bytes of the longest request that is read."""
OPENSEADRAGON_STYLE = "sha256-9xTiqzfwFaL2SGb1rmr8gysEwVVjIvqWAgmZgqFqpEE="
"""The one style sheet that OpenSeadragon puts into the page itself."""
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' "
    f"'{OPENSEADRAGON_STYLE}'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every answer says to the browser."""


class Guard:
    """Lets only requests through that come from the page itself, by a browser that knows the token.

    A foreign Host is refused, so that no other name leads here (DNS rebinding); a foreign Origin, so that no other page
    asks in the name of the person who is logged in, over WebSockets least of all, which browsers let any page open; and
    everything under ``/api/`` without the cookie that the token is exchanged for.

    Parameters
    ----------
    app : callable
        What answers the requests that come through.
    token : str
    hosts : collection of str
        Exactly these are accepted, each with its port.
    """

    def __init__(self, app: App, token: str, hosts: frozenset[str]) -> None:
        self.app, self.token, self.hosts = app, token, hosts
        self.origins = frozenset(f"http://{host}" for host in hosts)
        self.session = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refused = self._refuse(scope)
        if refused is None:
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused[1]})
        else:
            status, reason = refused
            head = [(b"content-type", b"text/plain; charset=utf-8")]
            sender = _with_headers(send)
            await sender({"type": "http.response.start", "status": status, "headers": head})
            await sender({"type": "http.response.body", "body": reason.encode()})

    def is_token(self, given: object) -> bool:
        """Whether this is the token."""
        return isinstance(given, str) and secrets.compare_digest(given.encode(), self.token.encode())

    def cookie(self) -> str:
        """Give the header that logs a browser in."""
        return f"{self.cookie_name}={self.session}; Path=/; HttpOnly; SameSite=Strict"

    @property
    def cookie_name(self) -> str:
        """Cookies do not heed ports: two reviews on one computer have names of their own."""
        return f"declump-{min(host.rpartition(':')[2] for host in self.hosts)}"

    def _refuse(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason, if a request is to be refused."""
        given = [value for name, value in scope["headers"] if name == b"host"]
        if len(given) != 1 or given[0].decode("latin-1").lower() not in self.hosts:
            return 421, "this host is not the one of the review"
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if any(origin not in self.origins for origin in origins):
            return 403, "this page is not the one of the review"
        if scope["type"] == "websocket" and len(origins) != 1:
            return 403, "a page says where it comes from"
        path = scope["path"]
        if path.startswith("/api") and path != LOGIN and not self._is_logged_in(scope):
            return 401, "open the address that 'declump open' printed"
        return None

    def _is_logged_in(self, scope: Scope) -> bool:
        for name, value in scope["headers"]:
            if name == b"cookie":
                try:
                    crumb = SimpleCookie(value.decode("latin-1")).get(self.cookie_name)
                except CookieError:
                    continue
                if crumb is not None and secrets.compare_digest(crumb.value.encode(), self.session.encode()):
                    return True
        return False


def allowed_hosts(host: str, port: int) -> frozenset[str]:
    """Give what a browser may call this server: its address with the port; of a wildcard those of the computer."""
    names = {host.lower(), *(LOOPBACK if host in (*LOOPBACK, *WILDCARDS) else ())} - set(WILDCARDS)
    if host in WILDCARDS:
        own = socket.gethostname()
        names |= {own.lower(), socket.getfqdn().lower()}
        with suppress(OSError):
            names |= {str(found[4][0]).partition("%")[0] for found in socket.getaddrinfo(own, None)}
    return frozenset(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names)


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach a server at this address."""
    return host in LOOPBACK or host.startswith("127.")


def address(host: str, port: int, token: str) -> str:
    """Give the address to open; what stands behind # is not sent to anyone."""
    name = "127.0.0.1" if host in WILDCARDS else host
    shown = f"[{name}]" if ":" in name else name
    opened = f"http://{shown}:{port}/#token={token}"
    assert urlsplit(opened).port == port
    return opened


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            named = {name.lower() for name, _ in own}
            own += [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in named]
            message["headers"] = own
        await send(message)

    return sender
