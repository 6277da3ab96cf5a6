"""One image on the desk: all its cells at once, evolved anew where they were edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from declump.batch.image import find_pixel_size
from declump.measurements import measure
from declump.review.album import Entry
from declump.review.changes import Change
from declump.review.images import ReviewedImage
from declump.review.runner import Done, EvolutionStep, Latest, Snapshot, evolve_snapshot
from declump.review.server.content import (
    add_notes,
    describe_cells,
    describe_clump,
    describe_measurements,
    describe_others,
    describe_steps,
    find_affected,
    pack,
)
from declump.review.server.desk import Desk, Publish
from declump.review.server.tiles import TilePyramid


class ImageDesk(Desk[Change]):
    """An image that is open.

    Parameters
    ----------
    entry : Entry
        Prepared.
    image : ReviewedImage
    publish : callable
        Called from any thread with what all tabs are to know.
    """

    def __init__(self, entry: Entry, image: ReviewedImage, publish: Publish) -> None:
        super().__init__(entry, image, TilePyramid(image.picture), publish)
        self.image = image
        snapshot = Snapshot.of(image.session)
        self.snapshot, self.result = snapshot, image.session.evolve()
        self._changed_clump = False
        self._wanted = snapshot.revision
        self._measured: dict[str, Any] | None = None
        self._pixel_size = find_pixel_size(image.source.path, image.options)[0]
        self._evolving: Latest[Snapshot] = Latest(self._evolve, self._fail)
        self._measuring: Latest[Done] = Latest(self._measure, self._fail)
        self._measuring.want(Done(snapshot, self.result))

    def describe(self) -> dict[str, Any]:
        """Everything about the image, for a page that opens it."""
        with self.lock:
            session, snapshot, result = self.image.session, self.snapshot, self.result
            notes, facts = dict(session.state.cells), self._facts()
        cells = describe_cells(result, snapshot.corrected.nuclei, snapshot.numbers)
        add_notes(cells, notes)
        return {
            **facts,
            **self.pyramid.describe(),
            "kind": self.entry.kind,
            "cells": cells,
            "others": describe_others(result.others),
            "clump": describe_clump(snapshot.corrected.clump),
            "diameter": session.state.diameter,
            "pixel_size": self._pixel_size,
            "measured": self._measured,
            "wanted": self._wanted,
        }

    def _is_evolving(self) -> bool:
        return self.snapshot.revision < self._wanted

    def _follow(self, change: Change) -> None:
        self._changed_clump |= any(patch.image == "clump" for patch in change.patches)
        if change.evolves:
            self._wanted = self.image.session.revision
            self._evolving.want(Snapshot.of(self.image.session))

    def _stop(self) -> None:
        self._evolving.stop()
        self._measuring.stop()

    def _preview(self, change: Change) -> dict[str, Any]:
        state = self.image.session.state
        starts = self.image.session.preview(change, self.result, self.snapshot.numbers)
        return {
            "evolves": change.evolves,
            "gone": [number for number in change.cells if number not in state.cells],
            "marks": [
                {"n": number, "verdict": cell.verdict, "label": cell.label}
                for number in change.cells
                if (cell := state.cells.get(number)) is not None
            ],
            "starts": [
                {"n": number, "seed": [round(part, 1) for part in state.seed_of(number)], "radii": pack(radii)}
                for number, radii in (starts.items() if change.evolves else ())
            ],
        }

    def _evolve(self, snapshot: Snapshot, check: Callable[[], None]) -> None:
        def tell(news: EvolutionStep | Done) -> None:
            if isinstance(news, EvolutionStep):
                cells = describe_steps(news.numbers, news.radii)
                self._publish({"type": "step", "id": self.entry.id, "revision": snapshot.revision, "cells": cells})
            else:
                self._take(news)

        evolve_snapshot(self.image.session, snapshot, tell, check)

    def _take(self, done: Done) -> None:
        """Take new outlines for the present ones, and tell what has changed."""
        snapshot, result = done.snapshot, done.result
        with self.lock:
            rows = find_affected(self.result, self.snapshot.numbers, result, snapshot.numbers)
            self.snapshot, self.result = snapshot, result
            clump, self._changed_clump = self._changed_clump, False
        cells = describe_cells(result, snapshot.corrected.nuclei, snapshot.numbers, rows)
        message = {
            "type": "result",
            "id": self.entry.id,
            "revision": snapshot.revision,
            "numbers": snapshot.numbers,
            "cells": cells,
        }
        if clump:
            message["clump"] = describe_clump(snapshot.corrected.clump)
        with self.lock:  # edits made meanwhile have been told of, and what they say of cells is not to be taken back
            add_notes(cells, self.image.session.state.cells)
            self._publish(message)
        self._measuring.want(done)

    def _measure(self, done: Done, check: Callable[[], None]) -> None:
        image, snapshot = self.image, done.snapshot
        measured = measure(done.result, image.picture, prior=image.options.prior, pixel_size=self._pixel_size)
        check()
        self._measured = {
            "type": "measured",
            "id": self.entry.id,
            "revision": snapshot.revision,
            **describe_measurements(measured, snapshot.numbers),
            "others": describe_others(done.result.others),
        }
        self._publish(self._measured)
