"""One image under review, without any user interface: edits in, outlines of the changed clumps out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.batch.options import Options
from declump.evidence.proposals import RayProposer
from declump.evolution.evolve import find_prior, find_settings
from declump.pipelines.cells import freeze
from declump.pipelines.frozen import FrozenEvolution, OnStep, complete
from declump.pipelines.others import collect_others
from declump.pipelines.stages import DEFAULT_EVIDENCE
from declump.records.others import Others
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.regions.channels import ImageChannels
from declump.review.changes import Change
from declump.review.edits import Edit
from declump.review.history import EditHistory
from declump.review.state import ReviewState
from declump.shapes.contours import first_exits


class Session(EditHistory[Change]):
    """Regions of an image, the edits made so far, and the cells that follow from them.

    Edits change the regions at once; :meth:`evolve` finds the outlines that follow, and evolves only clumps that it has
    not seen in this state before. Nothing depends on the order of calls: the outlines are those that
    ``declump.segment(image, regions=session.regions)`` gives, to the byte.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    regions : Regions
        Frozen ones of the image, as they were found.
    options : Options, optional
        What else the cells follow from: evidence, rays, prior and setting.
    result : Segmentation, optional
        What was found in these regions before, with the same options.
    evolution : FrozenEvolution, optional
        What evolves the regions; by default as the options say.

    Attributes
    ----------
    revision : int
        Number of edits, undone and redone ones included: tells states apart.
    history, future : list of Change
        What can be undone, the last one first, and redone.
    """

    def __init__(
        self,
        image: NDArray[Any],
        regions: Regions,
        options: Options | None = None,
        result: Segmentation | None = None,
        evolution: FrozenEvolution | None = None,
    ) -> None:
        super().__init__()
        self.image, self.options = image, options or Options()
        self.evolution = evolution or open_evolution(image, self.options)
        self.state = ReviewState(regions, self.evolution.proposer.image.channels[0])
        self._regions: tuple[int, Regions] | None = None
        if result is not None:
            self.evolution.remember(regions, result)

    @property
    def regions(self) -> Regions:
        """The regions as they are now."""
        if self._regions is None or self._regions[0] != self.revision:
            self._regions = (self.revision, self.state.to_regions())
        return self._regions[1]

    @property
    def numbers(self) -> list[int]:
        """Numbers of the cells in the order of the regions; they stay with the cells, whatever is edited."""
        return self.state.order()

    @property
    def done(self) -> bool:
        """Whether a person has said that the image is reviewed."""
        return self.state.done

    def _apply(self, edit: Edit) -> Change:
        return self.state.make(edit)

    def _put(self, change: Change, *, back: bool) -> None:
        self.state.put(change, back=back)

    def evolve(self, on_step: OnStep | None = None, regions: Regions | None = None) -> Segmentation:
        """Find the outlines of all cells, one row a cell of ``numbers``.

        See :meth:`declump.pipelines.frozen.FrozenEvolution.evolve`. They have no nuclei yet: see :meth:`complete`.

        Parameters
        ----------
        on_step : callable, optional
            Called at every step of a clump that evolves; what it raises ends the evolution.
        regions : Regions, optional
            Of an earlier state; by default the present ones.
        """
        return self.evolution.evolve(self.regions if regions is None else regions, on_step=on_step)

    def preview(self, change: Change, result: Segmentation, numbers: list[int]) -> dict[int, NDArray[np.float64]]:
        """Where the cells of an edit start from, before anything is evolved.

        Parameters
        ----------
        change : Change
            The last edit.
        result : Segmentation
            What was found before it.
        numbers : list of int
            Of the cells in it.

        Returns
        -------
        dict of int to (K,) float64
            Radii of the cells that the edit names and that are there now: as they were, through the point that they
            were pulled to; of a new one the usual shape, as far as the clump reaches.
        """
        rows = {number: row for row, number in enumerate(numbers)}
        radii: dict[int, NDArray[np.float64]] = {}
        for number in change.cells:
            if number not in self.state.cells:
                continue
            outline = result.radii[rows[number]] if number in rows else np.zeros(0)
            radii[number] = outline.copy() if outline.any() else self._usual_outline(number)
            drawn = self.state.cells[number].drawn
            if drawn is not None and drawn.size == radii[number].size:
                radii[number] = np.where(np.isfinite(drawn), drawn, radii[number])
        return radii

    def _usual_outline(self, number: int) -> NDArray[np.float64]:
        prior, frozen = self.evolution.prior, self.state.frozen
        exits = first_exits(self.state.clump, np.rint(self.state.seed_of(number)), prior.rays)
        return np.asarray(np.minimum(frozen.scale * prior.mean, exits))

    def find_others(self, regions: Regions) -> Others | None:
        """Give what is no nucleus in regions of the image."""
        return collect_others(regions, self.evolution.proposer.image.channels[0])

    def complete(self, result: Segmentation, regions: Regions) -> Segmentation:
        """Add nuclei and what is no nucleus to outlines that were found in regions."""
        return complete(result, regions, self.evolution.proposer.image.channels[0])


def open_evolution(image: NDArray[Any], options: Options) -> FrozenEvolution:
    """Give what evolves frozen regions of an image as the options say."""
    settings = find_settings(options.setting)
    evidence = options.evidence or (DEFAULT_EVIDENCE if settings.ray_weight > 0 else "clump")
    proposer = RayProposer(ImageChannels(np.asanyarray(image)), options.rays, options.diameter)
    prior = find_prior(options.prior, settings)
    return FrozenEvolution(proposer, prior, settings, "rays" in evidence)


def freeze_image(image: NDArray[Any], options: Options, pixel_size: float | None = None) -> Regions:
    """Find the regions of an image that a session starts from."""
    return freeze(
        image,
        regions=options.region_options(pixel_size),
        evidence=options.evidence,
        rays=options.rays,
        prior=options.prior,
        setting=options.setting,
    )
