"""Everything that is open: the album, the images on desks, and the tabs that look at them."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from typing import Any

from declump.batch.image import read_focused
from declump.batch.resources import check_memory, free_memory
from declump.io import read_image, read_size
from declump.io.slide_results import RECORD_FILE as SLIDE_RECORD
from declump.review.album import Album, Entry
from declump.review.images import ReviewedImage, make_thumbnail, saved_edits
from declump.review.server.desk import Desk
from declump.review.server.image_desk import ImageDesk
from declump.review.server.slide_desk import SlideDesk
from declump.review.server.slide_tiles import SlidePyramid
from declump.review.server.tiles import TilePyramid, encode
from declump.review.slides.album import SLIDE
from declump.review.slides.image import ReviewedSlide
from declump.slides.readers import open_levels, open_slide
from declump.slides.record import SlideRecord

OPEN = 3
"""Images that stay open when nobody looks at them."""
WAITING = 2000
"""Messages that wait for a tab; one that falls behind further is told to load anew."""
THUMBNAIL = 160
"""Longest side of a thumbnail in pixels."""
THUMBNAILS = 4000
"""Thumbnails that are kept."""


class Tab:
    """A page that listens: what waits for it, and which image it shows."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str] = asyncio.Queue()
        self.image = ""

    def put(self, text: str) -> None:
        """Have a message sent."""
        if self.queue.qsize() >= WAITING:
            while not self.queue.empty():
                self.queue.get_nowait()
            text = json.dumps({"type": "reload"})
        self.queue.put_nowait(text)


class Hub:
    """What the routes ask.

    Parameters
    ----------
    album : Album
    """

    def __init__(self, album: Album) -> None:
        self.album = album
        self.tabs: set[Tab] = set()
        self._desks: dict[str, Desk[Any]] = {}
        self._pictures: dict[str, TilePyramid | SlidePyramid] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._thumbnails: dict[str, bytes] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = threading.Event()
        self._worker: threading.Thread | None = None

    def start(self) -> None:
        """Begin to prepare images; called in the server's loop."""
        self._loop = asyncio.get_running_loop()
        self._worker = threading.Thread(target=self.album.prepare, args=(self._tell_entry, self._stopped), daemon=True)
        self._worker.start()

    def stop(self) -> None:
        """End all work; edits are in their logs already."""
        self._stopped.set()
        for desk in list(self._desks.values()):
            desk.close()
        if self._worker is not None:
            self._worker.join()

    def describe_entry(self, entry: Entry) -> dict[str, Any]:
        """What the list says of an image."""
        facts = (entry.record or {}).get("image", {})
        desk = self._desks.get(entry.id)
        edits = desk.edits if desk else int((entry.record or {}).get("review", {}).get("edits", 0))
        finished = desk.finished if desk else bool((entry.record or {}).get("review", {}).get("finished"))
        return {
            "id": entry.id,
            "name": entry.source.name,
            "status": entry.status,
            "reason": entry.reason,
            "kind": entry.kind,
            "doing": entry.doing,
            "cells": facts.get("cells"),
            "confidence": facts.get("mean_confidence"),
            "quality": facts.get("quality"),
            "edits": edits,
            "unsaved": edits > saved_edits(entry.folder) if edits else False,
            "finished": finished,
        }

    async def picture(self, entry: Entry) -> TilePyramid | SlidePyramid:
        """Give the tiles of an image, whether it is segmented or not."""
        desk = self._desks.get(entry.id)
        if desk is not None:
            return desk.pyramid
        async with self._opening.setdefault(entry.id, asyncio.Lock()):
            if entry.id not in self._pictures:
                self._pictures[entry.id] = await asyncio.to_thread(_make_pyramid, entry)
                for name in list(self._pictures)[:-OPEN]:
                    del self._pictures[name]
        return self._pictures[entry.id]

    async def open(self, entry: Entry) -> Desk[Any]:
        """Give the desk of an image that is ready, made at first use.

        Raises
        ------
        ValueError, OSError
            If it cannot be opened.
        """
        async with self._opening.setdefault(entry.id, asyncio.Lock()):
            desk = self._desks.pop(entry.id, None)
            if desk is None:
                desk = await asyncio.to_thread(self._make_desk, entry)
            self._desks[entry.id] = desk
        await self._close_unused()
        return desk

    async def save(self, entry: Entry) -> dict[str, Any]:
        """Write the results of an image as they follow from its edits, and tell the list of it."""
        desk = await self.open(entry)
        facts = await asyncio.to_thread(desk.save)
        self._tell_entry(entry)
        return facts

    def _make_desk(self, entry: Entry) -> Desk[Any]:
        shown = self._pictures.pop(entry.id, None)
        if entry.kind == SLIDE:
            pyramid = shown if isinstance(shown, SlidePyramid) else _open_slide(entry)
            return SlideDesk(entry, ReviewedSlide(entry.folder), pyramid, self._publish)
        image = ReviewedImage(entry.source, self.album.options, entry.folder)
        return ImageDesk(entry, image, self._publish)

    async def _close_unused(self) -> None:
        shown = {tab.image for tab in self.tabs}
        unused = [name for name in self._desks if name not in shown]
        for name in unused[: max(len(unused) - OPEN, 0)]:
            await asyncio.to_thread(self._desks.pop(name).close)

    async def thumbnail(self, entry: Entry) -> bytes:
        """Give a small picture of an image as JPEG."""
        if entry.id not in self._thumbnails:
            if len(self._thumbnails) >= THUMBNAILS:
                self._thumbnails.clear()
            self._thumbnails[entry.id] = await asyncio.to_thread(_make_thumbnail, entry)
        return self._thumbnails[entry.id]

    def look(self, image: str, cell: int) -> None:
        """Let a slide know which cell somebody chose."""
        desk = self._desks.get(image)
        if isinstance(desk, SlideDesk):
            asyncio.get_running_loop().run_in_executor(None, desk.look, cell)

    def _tell_entry(self, entry: Entry) -> None:
        self._publish({"type": "image", "image": self.describe_entry(entry)})

    def _publish(self, message: dict[str, Any]) -> None:
        """Send a message to all tabs that it concerns; from any thread."""
        if self._loop is None or self._loop.is_closed():
            return
        text = json.dumps(message, allow_nan=False, separators=(",", ":"))
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(self._spread, message.get("id"), text)

    def _spread(self, image: str | None, text: str) -> None:
        for tab in self.tabs:
            if image is None or tab.image == image:
                tab.put(text)


def _make_pyramid(entry: Entry) -> TilePyramid | SlidePyramid:
    if entry.kind == SLIDE:
        return _open_slide(entry)
    return TilePyramid(read_focused(entry.source)[0])


def _open_slide(entry: Entry) -> SlidePyramid:
    """Open the level of a slide that is segmented, and those below it."""
    known = (entry.folder / SLIDE_RECORD).is_file()
    return SlidePyramid(open_levels(entry.source.path, SlideRecord.read(entry.folder).options.level if known else 0))


def _make_thumbnail(entry: Entry) -> bytes:
    if entry.kind == SLIDE:
        return encode(make_thumbnail(open_slide(entry.source.path).read_overview(), THUMBNAIL))
    size = read_size(entry.source.path, page=entry.source.page)
    check_memory(entry.source.path, size, free_memory())
    return encode(make_thumbnail(read_image(entry.source.path, page=entry.source.page), THUMBNAIL))
