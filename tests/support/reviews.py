"""Simulated smears to review, found once: finding regions takes most of the time of a test."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from declump.batch import Options
from declump.review.albums import find_album
from declump.review.found import Found
from declump.review.images import ReviewedImage, prepare_image
from declump.review.session import find_image
from declump.review.slides.album import SLIDE
from declump.review.slides.image import ReviewedSlide
from declump.simulate import smear
from support.waiting import LIMIT, start, wait_until


@lru_cache(maxsize=2)
def found_smear(cells: int = 9, seed: int = 5) -> tuple[NDArray[Any], Found]:
    """A small smear of a few clumps, and what was found in it."""
    image = smear((260, 340), cells=cells, overlap=0.5, rng=np.random.default_rng(seed)).image
    return image, find_image(image, Options())


def save_again(results: Path) -> None:
    """Open every image of a results folder with the edits in its log, and save it."""
    album = find_album(results)
    with album.hold():
        for entry in album.entries.values():
            if entry.kind == SLIDE:
                image: ReviewedImage | ReviewedSlide = ReviewedSlide(entry.folder)
            else:
                prepare_image(entry.source, album.options, entry.folder)
                image = ReviewedImage(entry.source, album.options, entry.folder)
            try:
                image.save()
            finally:
                image.close()


class ReviewServer:
    """A running ``declump open``, asked as a browser asks it."""

    def __init__(self, process: Any, lines: list[str]) -> None:
        self.process = process
        said = dict(line.split(maxsplit=1) for line in lines)
        self.address = said["page"].strip()
        self.out = Path(said["results"].strip())
        self.host, _, fragment = self.address.removeprefix("http://").partition("/#token=")
        self.token = fragment
        self.cookie = ""

    def ask(
        self, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, method: str = ""
    ) -> tuple[int, Any, dict[str, str]]:
        """Status, content and headers of an answer."""
        connection = HTTPConnection(self.host, timeout=LIMIT)
        sent = {"Cookie": self.cookie, **({"Content-Type": "application/json"} if body is not None else {})}
        content = None if body is None else json.dumps(body)
        connection.request(method or ("GET" if body is None else "POST"), path, content, {**sent, **(headers or {})})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        told = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, json.loads(data) if "json" in told.get("content-type", "") else data, told

    def log_in(self) -> None:
        status, _, headers = self.ask("/api/login", {"token": self.token})
        assert status == 204
        self.cookie = headers["set-cookie"].partition(";")[0]

    def wait_for_images(self) -> list[dict[str, Any]]:
        """Images, once none of them waits any more."""

        def all_done() -> list[dict[str, Any]] | None:
            images = self.ask("/api/images")[1]["images"]
            return images if all(image["status"] in ("ready", "failed") for image in images) else None

        found = wait_until(all_done, "images that are prepared", process=self.process)
        assert found is not None
        return found

    def edit(self, image: str, edit: Mapping[str, Any], name: str = "") -> tuple[int, Any]:
        return self.ask(f"/api/images/{image}/edits", {"id": name or uuid4().hex, "edit": dict(edit)})[:2]

    @contextmanager
    def listen(self, image: str = "", **headers: str) -> Iterator[Any]:
        """Open a WebSocket as the page does."""
        from websockets.sync.client import connect

        given = {"Cookie": self.cookie, **headers}
        origin = given.pop("Origin", f"http://{self.host}")
        address = f"ws://{self.host}/api/live"
        with connect(address, origin=origin or None, additional_headers=given, max_size=None) as socket:
            if image:
                socket.send(json.dumps({"open": image}))
            yield socket


@contextmanager
def open_review(*arguments: str | Path) -> Iterator[ReviewServer]:
    """Run ``declump open`` until the block is left, then interrupt it."""
    command = [sys.executable, "-m", "declump.cli", "open", *map(str, arguments), "--no-browser"]
    with start(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        yield ReviewServer(process, lines)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.stdout.read()
