"""The routes: the page itself, and what it asks for under ``/api/``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from declump.errors import sentence
from declump.review.album import Entry
from declump.review.edits import EDITS
from declump.review.server.guard import LOGIN, LONGEST_BODY, App, Guard
from declump.review.server.hub import Hub, Tab
from declump.review.server.slide_desk import SlideDesk

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "txt": "text/plain", "svg": "image/svg+xml"}


def make_app(hub: Hub, token: str, hosts: frozenset[str]) -> App:
    """Give the application that a server runs.

    Parameters
    ----------
    hub : Hub
    token : str
        What the address holds that was printed.
    hosts : frozenset of str
        What a browser may call the server.
    """
    inner = Starlette(
        routes=[
            *_page_routes(),
            Route(LOGIN, _login, methods=["POST"]),
            Route("/api/images", _list_images),
            Route("/api/images/{id}", _describe_image),
            Route("/api/images/{id}/thumbnail.jpg", _give_thumbnail),
            Route("/api/images/{id}/tiles/{level:int}/{column:int}_{row:int}.jpg", _give_tile),
            Route("/api/images/{id}/crops/{top:int}_{left:int}_{bottom:int}_{right:int}.jpg", _give_crop),
            Route("/api/images/{id}/cells/{top:int}_{left:int}_{bottom:int}_{right:int}", _give_cells),
            Route("/api/images/{id}/doubtful/{after:int}", _give_doubtful),
            Route("/api/images/{id}/edits", _make_edit, methods=["POST"]),
            Route("/api/images/{id}/save", _save, methods=["POST"]),
            WebSocketRoute("/api/live", _listen),
        ],
        exception_handlers={Exception: _say_failure, ValueError: _say_conflict, OSError: _say_conflict},
        lifespan=_live,
    )
    inner.state.hub = hub
    inner.state.guard = guard = Guard(inner, token, hosts)
    return guard


@asynccontextmanager
async def _live(app: Starlette) -> AsyncIterator[None]:
    hub: Hub = app.state.hub
    hub.start()
    try:
        yield
    finally:
        await asyncio.to_thread(hub.stop)


def _page_routes() -> list[Route]:
    """One route a file of the page, read once: no path of a request is ever a path of a file."""
    routes, root = [], files("declump.review") / "page"
    for folder, prefix in ((root, ""), (root / "openseadragon", "openseadragon/")):
        for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if file.is_file():
                kind = _TYPES.get(file.name.rpartition(".")[2], "application/octet-stream")
                path = "/" if file.name == "index.html" else f"/page/{prefix}{file.name}"
                routes.append(Route(path, _give(file.read_bytes(), kind)))
    return routes


def _give(content: bytes, kind: str) -> Any:
    async def give(request: Request) -> Response:
        return Response(content, media_type=kind)

    return give


async def _login(request: Request) -> Response:
    body = await _read_json(request)
    guard: Guard = request.app.state.guard
    if not guard.is_token(body.get("token")):
        raise HTTPException(401, "open the address that 'declump open' printed")
    return Response(status_code=204, headers={"set-cookie": guard.cookie()})


async def _list_images(request: Request) -> Response:
    hub = _hub(request)
    images = [hub.describe_entry(entry) for entry in hub.album.entries.values()]
    return JSONResponse({"title": hub.album.title, "out": str(hub.album.out), "edits": list(EDITS), "images": images})


async def _describe_image(request: Request) -> Response:
    hub, entry = _hub(request), _entry(request)
    if entry.status == "failed":
        raise HTTPException(409, entry.reason)
    if entry.status != "ready":
        hub.album.hurry(entry)
        pyramid = await hub.picture(entry)
        return JSONResponse({"status": entry.status, "kind": entry.kind, **pyramid.describe()}, status_code=202)
    desk = await hub.open(entry)
    return JSONResponse({"status": "ready", **await asyncio.to_thread(desk.describe)})


async def _give_thumbnail(request: Request) -> Response:
    entry = _entry(request)
    if entry.status == "failed":
        raise HTTPException(404, entry.reason)
    return Response(await _hub(request).thumbnail(entry), media_type="image/jpeg", headers=_KEPT)


async def _give_tile(request: Request) -> Response:
    pyramid = await _hub(request).picture(_shown(request))
    place = (request.path_params[name] for name in ("level", "column", "row"))
    tile = await asyncio.to_thread(pyramid.tile, *place)
    if tile is None:
        raise HTTPException(404, "there is no such tile")
    return Response(tile, media_type="image/jpeg", headers=_KEPT)


async def _give_crop(request: Request) -> Response:
    pyramid = await _hub(request).picture(_shown(request))
    crop = await asyncio.to_thread(pyramid.crop, *_box(request))
    if crop is None:
        raise HTTPException(404, "this lies outside the image")
    return Response(crop, media_type="image/jpeg", headers=_KEPT)


async def _give_cells(request: Request) -> Response:
    desk = await _slide_desk(request)
    return JSONResponse(await asyncio.to_thread(desk.window, *_box(request)))


async def _give_doubtful(request: Request) -> Response:
    desk = await _slide_desk(request)
    return JSONResponse(await asyncio.to_thread(desk.find_doubtful, request.path_params["after"]))


_KEPT = {"cache-control": "private, max-age=3600"}


async def _make_edit(request: Request) -> Response:
    body = await _read_json(request)
    name, edit = body.get("id"), body.get("edit")
    if not (isinstance(name, str) and 8 <= len(name) <= 64 and isinstance(edit, dict)):
        raise HTTPException(400, "an edit comes with an id of its own, 8 to 64 letters long")
    desk = await _hub(request).open(_ready(request))
    try:
        return JSONResponse(await asyncio.to_thread(desk.edit, edit, name))
    except ValueError as error:
        raise HTTPException(409, sentence(error)) from error


async def _save(request: Request) -> Response:
    await _read_json(request)
    return JSONResponse(await _hub(request).save(_ready(request)))


async def _listen(websocket: WebSocket) -> None:
    """Tell a tab what happens; it says which image it shows."""
    hub: Hub = websocket.app.state.hub
    await websocket.accept()
    tab = Tab()
    hub.tabs.add(tab)
    sender = asyncio.create_task(_send_all(websocket, tab))
    try:
        while True:
            said = json.loads(await websocket.receive_text())
            shown = said.get("open") if isinstance(said, dict) else None
            if isinstance(shown, str):
                tab.image = shown
            looked = said.get("look") if isinstance(said, dict) else None
            if isinstance(looked, int) and tab.image:
                hub.look(tab.image, looked)
    except (WebSocketDisconnect, ValueError):
        pass
    finally:
        hub.tabs.discard(tab)
        sender.cancel()
        with suppress(asyncio.CancelledError, RuntimeError, WebSocketDisconnect):
            await sender


async def _send_all(websocket: WebSocket, tab: Tab) -> None:
    while True:
        await websocket.send_text(await tab.queue.get())


async def _say_failure(request: Request, error: Exception) -> Response:
    return PlainTextResponse(sentence(error), status_code=500)


async def _say_conflict(request: Request, error: Exception) -> Response:
    """Say what is wrong with an image or a file, which is no fault of the server."""
    return PlainTextResponse(sentence(error), status_code=409)


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


def _entry(request: Request) -> Entry:
    entry = _hub(request).album.entries.get(request.path_params["id"])
    if entry is None:
        raise HTTPException(404, "there is no such image")
    return entry


def _shown(request: Request) -> Entry:
    entry = _entry(request)
    if entry.status == "failed":
        raise HTTPException(409, entry.reason)
    return entry


def _box(request: Request) -> tuple[int, int, int, int]:
    top, left, bottom, right = (request.path_params[name] for name in ("top", "left", "bottom", "right"))
    return top, left, bottom, right


async def _slide_desk(request: Request) -> SlideDesk:
    desk = await _hub(request).open(_ready(request))
    if not isinstance(desk, SlideDesk):
        raise HTTPException(404, "only the cells of slides are given by windows")
    return desk


def _ready(request: Request) -> Entry:
    entry = _entry(request)
    if entry.status != "ready":
        raise HTTPException(409, entry.reason or "this image is not segmented yet")
    return entry


async def _read_json(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "requests are JSON")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LONGEST_BODY:
            raise HTTPException(413, "this request is too long")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "this is no JSON") from error
    if not isinstance(body, dict):
        raise HTTPException(400, "requests are JSON objects")
    return body
