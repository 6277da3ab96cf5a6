"""One image on the desk: edits of all its tabs in one order, and what follows from them told to all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from declump.batch.image import find_pixel_size
from declump.errors import sentence
from declump.measurements import measure
from declump.records.segmentation import Segmentation
from declump.review.album import Entry
from declump.review.changes import Change
from declump.review.images import ReviewedImage
from declump.review.runner import Done, EvolutionStep, Latest, Snapshot, evolve_snapshot
from declump.review.server.content import (
    describe_cells,
    describe_clump,
    describe_measurements,
    describe_others,
    describe_steps,
    find_affected,
    pack,
)
from declump.review.server.tiles import TilePyramid
from declump.review.session import REDO, UNDO

Publish = Callable[[dict[str, Any]], None]


class Desk:
    """An image that is open, and everybody who looks at it.

    Parameters
    ----------
    entry : Entry
        Prepared.
    image : ReviewedImage
    publish : callable
        Called from any thread with what all tabs are to know.
    """

    def __init__(self, entry: Entry, image: ReviewedImage, publish: Publish) -> None:
        self.entry, self.image = entry, image
        self._publish = publish
        self.pyramid = TilePyramid(image.picture)
        self.lock = threading.RLock()
        self._saving = threading.Lock()
        snapshot = Snapshot.of(image.session)
        self.snapshot, self.result = snapshot, image.session.evolve()
        self._changed_clump = False
        self._wanted = snapshot.revision
        self._measured: dict[str, Any] | None = None
        self._pixel_size = find_pixel_size(image.source.path, image.options)[0]
        self._evolving: Latest[Snapshot] = Latest(self._evolve, self._fail)
        self._measuring: Latest[Done] = Latest(self._measure, self._fail)
        self._measuring.want(Done(snapshot, self.result))

    @property
    def finished(self) -> bool:
        """Whether the image is reviewed."""
        return self.image.session.state.done

    def describe(self) -> dict[str, Any]:
        """Everything about the image, for a page that opens it."""
        with self.lock:
            session, snapshot, result = self.image.session, self.snapshot, self.result
            cells, facts = dict(session.state.cells), self._facts()
        return {
            **facts,
            **self.pyramid.describe(),
            "kind": self.entry.kind,
            "cells": describe_cells(result, snapshot.regions.nuclei, snapshot.numbers, cells),
            "others": describe_others(session.find_others(snapshot.regions)),
            "clump": describe_clump(snapshot.regions.clump),
            "diameter": session.state.diameter,
            "pixel_size": self._pixel_size,
            "measured": self._measured,
            "wanted": self._wanted,
        }

    def edit(self, record: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Make an edit, put it into the log, and have its clump evolve.

        Parameters
        ----------
        record : mapping
            See :mod:`declump.review.edits`; also ``undo`` and ``redo``.
        name : str
            Whoever sends an edit gives it a name of its own: sent twice, it is made once.

        Raises
        ------
        ValueError
            If it cannot be made, with the reason.
        """
        with self.lock:
            image, session = self.image, self.image.session
            if name in image.ids:
                return self._facts()
            change = session.replay(record)
            if change is None:
                raise ValueError(f"there is nothing to {record.get('edit')}")
            # What is seen at once does not wait for the disk; whoever sent the edit does.
            self._publish({"type": "edited", "id": self.entry.id, **self._facts(), **self._preview(change)})
            try:
                image.write_edit(record, name)
            except OSError:
                self._take_back(str(record.get("edit")))
                self._publish({"type": "reload"})
                raise
            self._changed_clump |= any(patch.image == "clump" for patch in change.patches)
            if change.evolves:
                self._wanted = session.revision
                self._evolving.want(Snapshot.of(session))
            return self._facts()

    def save(self) -> dict[str, Any]:
        """Write the results as they follow from the edits so far."""
        with self._saving:
            record = self.image.save(self.lock)
        self.entry.record = record
        with self.lock:
            facts = self._facts()
        self._publish({"type": "saved", "id": self.entry.id, **facts})
        return facts

    def close(self) -> None:
        """End all work on the image."""
        self._evolving.stop()
        self._measuring.stop()
        with self._saving:
            self.image.close()

    def _facts(self) -> dict[str, Any]:
        session = self.image.session
        return {
            "revision": session.revision,
            "undo": len(session.history),
            "redo": len(session.future),
            "finished": session.state.done,
            "evolving": self.snapshot.revision < self._wanted,
            "edits": len(self.image.log.records),
            "saved": self.image.saved,
        }

    def _take_back(self, edit: str) -> None:
        """Undo an edit that could not be put into the log, as if it had never been made."""
        session = self.image.session
        if edit == UNDO:
            session.redo()
        else:
            session.undo()
            if edit != REDO:
                session.future.pop()

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
            cells, clump = dict(self.image.session.state.cells), self._changed_clump
            self._changed_clump = False
        message = {
            "type": "result",
            "id": self.entry.id,
            "revision": snapshot.revision,
            "numbers": snapshot.numbers,
            "cells": describe_cells(result, snapshot.regions.nuclei, snapshot.numbers, cells, rows),
        }
        if clump:
            message["clump"] = describe_clump(snapshot.regions.clump)
        self._publish(message)
        self._measuring.want(done)

    def _measure(self, done: Done, check: Callable[[], None]) -> None:
        image, snapshot = self.image, done.snapshot
        whole: Segmentation = image.session.complete(done.result, snapshot.regions)
        check()
        measured = measure(whole, image.picture, prior=image.options.prior, pixel_size=self._pixel_size)
        check()
        self._measured = {
            "type": "measured",
            "id": self.entry.id,
            "revision": snapshot.revision,
            **describe_measurements(measured, snapshot.numbers),
            "others": describe_others(whole.others),
        }
        self._publish(self._measured)

    def _fail(self, error: Exception) -> None:
        self._publish({"type": "trouble", "id": self.entry.id, "reason": sentence(error)})
