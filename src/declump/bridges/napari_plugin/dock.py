"""The widget: an image in; seeds, outlines and measurements out; seeds are corrected, and their clumps evolve again."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import numpy as np
from magicgui.widgets import ComboBox, Container, FloatSpinBox, Label, ProgressBar, PushButton, create_widget
from napari.layers import Image
from napari.qt.threading import thread_worker
from napari.utils.notifications import show_warning
from napari.viewer import Viewer
from superqt.utils import qdebounced

from declump.batch.options import Options
from declump.bridges.napari_plugin.layers import CELLS, NUMBER, SEEDS, to_layers
from declump.bridges.napari_plugin.seed_review import Cancelled, SeedReview

ONE_COLOUR = "different colours"
SETTLED = 300
"""Milliseconds without a further change of the seeds before it counts: a dragged point tells of every move."""
PAUSE = 0.05
"""Seconds between two looks at how far the work is."""


class Dock(Container):
    """What the buttons do.

    Attributes
    ----------
    review : SeedReview, optional
        Of the image that was segmented last.
    worker : WorkerBase, optional
        What runs now.
    """

    def __init__(self, napari_viewer: Viewer) -> None:
        self.viewer = napari_viewer
        self.review: SeedReview | None = None
        self.worker: Any = None
        self._cancelled = Event()
        self._listens = True
        self._edit_soon = qdebounced(self._edit, timeout=SETTLED)
        self.image = create_widget(annotation=Image, label="image")
        self.pixel_size = FloatSpinBox(label="micrometres a pixel (0: not known)", min=0, max=100, step=0.01)
        self.start = PushButton(text="Segment")
        self.stop = PushButton(text="Stop", enabled=False)
        self.progress = ProgressBar(min=0, max=100, value=0)
        self.colour_by = ComboBox(label="colour by", choices=[ONE_COLOUR])
        self.told = Label(value="Then add, move or delete points of the layer 'seeds'.")
        super().__init__(
            widgets=[self.image, self.pixel_size, self.start, self.stop, self.progress, self.colour_by, self.told]
        )
        self.start.changed.connect(self.segment)
        self.stop.changed.connect(self.cancel)
        self.colour_by.changed.connect(self._colour)

    def segment(self) -> None:
        """Find the cells of the chosen image."""
        layer = self.image.value
        if layer is None:
            show_warning("declump: open an image first")
            return
        pixels = np.asarray(layer.data)
        size = self.pixel_size.value or None

        def find(check: Callable[[], bool], tell: Callable[[int, int], None]) -> SeedReview:
            review = SeedReview(pixels, Options(pixel_size=size))
            review.evolve(check, tell)
            return review

        self._run(find)

    def cancel(self) -> None:
        """Stop what runs; what was found before stays."""
        self._cancelled.set()
        if self.worker is not None:
            self.worker.quit()

    def _run(self, work: Callable[[Callable[[], bool], Callable[[int, int], None]], SeedReview]) -> None:
        self.cancel()
        cancelled = self._cancelled = Event()
        state = [0, 0]

        def tell(done: int, total: int) -> None:
            state[:] = done, total

        def steps() -> Generator[tuple[int, int], None, SeedReview | None]:
            with ThreadPoolExecutor(1) as pool:
                task = pool.submit(work, cancelled.is_set, tell)
                while not task.done():
                    yield state[0], state[1]
                    time.sleep(PAUSE)
                try:
                    return task.result()
                except Cancelled:
                    return None

        worker = self.worker = thread_worker(steps)()
        worker.yielded.connect(self._tell)
        worker.returned.connect(self._show)
        worker.errored.connect(lambda error: show_warning(f"declump: {error}"))
        worker.finished.connect(lambda: self._end(worker))
        self.start.enabled, self.stop.enabled = False, True
        worker.start()

    def _tell(self, state: tuple[int, int]) -> None:
        done, total = state
        self.progress.value = 100 * done // total if total else 0

    def _end(self, worker: Any) -> None:
        if worker is self.worker:
            self.worker = None
            self.start.enabled, self.stop.enabled = True, False
            self.progress.value = 0

    def _show(self, review: SeedReview | None) -> None:
        """Put what was found into the layers."""
        if review is None or self._cancelled.is_set():
            return
        self.review, result = review, review.result
        measured = review.measure()
        with self._silently():
            old = {layer.name: layer for layer in self.viewer.layers}
            wanted = to_layers(result, measured, review.numbers)
            for name in set(old) - {attributes["name"] for _, attributes, _ in wanted}:
                if "declump" in old[name].metadata:
                    self.viewer.layers.remove(old[name])
            for data, attributes, kind in wanted:
                if attributes["name"] in old and kind != "shapes":
                    layer = old[attributes["name"]]
                    layer.data = data
                    layer.metadata = attributes["metadata"]
                    if kind == "points":
                        layer.features = attributes["features"]
                        layer.selected_data = set()
                    continue
                place = len(self.viewer.layers)
                if attributes["name"] in old:  # faster anew than changed
                    place = self.viewer.layers.index(attributes["name"])
                    self.viewer.layers.remove(attributes["name"])
                layer = getattr(self.viewer, f"add_{kind}")(data, **attributes)
                self.viewer.layers.move(self.viewer.layers.index(layer), place)
                if kind == "points":
                    layer.events.data.connect(self._notice)
            self.viewer.layers.selection.active = self.viewer.layers[SEEDS]
        numeric = [name for name, values in measured.items() if values.dtype.kind in "biuf" and name != "id"]
        chosen = self.colour_by.value
        self.colour_by.choices = [ONE_COLOUR, *numeric]
        self.colour_by.value = chosen if chosen in numeric else ONE_COLOUR
        self._colour()
        self.told.value = f"{len(result)} cells, {len(result.clumps)} clumps"

    def _colour(self) -> None:
        if CELLS not in self.viewer.layers:
            return
        layer, chosen = self.viewer.layers[CELLS], self.colour_by.value
        if chosen in layer.features and len(layer.data):
            layer.edge_colormap = "viridis"
            layer.edge_color = chosen
            layer.refresh_colors(update_color_mapping=True)
        elif self.review is not None and len(layer.data):
            layer.edge_color = to_layers(self.review.result)[-2][1]["edge_color"]

    def _notice(self, event: Any) -> None:
        if self._listens and str(event.action) in ("added", "removed", "changed"):
            self._edit_soon()

    def _edit(self) -> None:
        """Make the edits that points tell of, and evolve what they change."""
        if self.review is None or SEEDS not in self.viewer.layers:
            return
        review, seeds = self.review, self.viewer.layers[SEEDS]
        edits = review.find_edits(seeds.data, seeds.features[NUMBER])
        if not edits:
            return
        refusals = review.make(edits)
        for refusal in refusals:
            show_warning(f"declump: {refusal}")
        if len(refusals) == len(edits):
            self._show(review)
            return

        def again(check: Callable[[], bool], tell: Callable[[int, int], None]) -> SeedReview:
            review.evolve(check, tell)
            return review

        self._run(again)

    @contextmanager
    def _silently(self) -> Iterator[None]:
        """Do something to the layers that is no edit of a person."""
        self._listens = False
        try:
            yield
        finally:
            self._listens = True
