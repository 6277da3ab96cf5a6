"""Which candidates of a clump are nuclei of its cells: rules in order, each one function over the table of the clump.

Accept the probable ones; confirm doubtful ones round which the ray network sees a cell of its own; join two round which
it sees the same cell; drop doubtful ones whose cell others cover; and, when the cells are evolved, rescue the most
probable one of a large part that no cell explains. What a person decided goes before: no rule is asked then.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.evidence.proposals import RayProposer
from declump.pipelines.view import ClumpView
from declump.records.crops import Crop, crop_contour
from declump.records.regions import seeds_from_labels
from declump.shapes import contours

Floats = NDArray[np.float64]
Cell = tuple[int, ...]
"""Candidates that are the nuclei of one cell; the surest one first."""

DOUBTFUL = 0.5
"""A candidate is tried from this share of the least probability of a nucleus on."""
MAX_STD = 0.4
"""Mean doubt of a proposed outline, in its mean radii, up to which the network sees a cell round a candidate."""
MAX_IOU = 0.5
"""Intersection over union with another proposed outline up to which a candidate's cell is a cell of its own."""
SAME_CELL = 0.9
"""Intersection over union of two proposed outlines from which on they are of one cell."""
SURE = 0.6
"""A nucleus that is less probable than this is doubtful. This limit and the next were chosen by nuclei of Cervix93 and
of colour frames (``benchmarks/redundant.py``)."""
OWN = 0.1
"""Least share of the cell proposed round a doubtful nucleus that lies in no other one."""
MIN_PART = 0.5
"""A part of a clump that no cell explains asks for a nucleus if it is this large, in usual areas of a cell."""
THREAD = 0.25
"""What is narrower than this many usual radii of a cell is a rim of outlines that do not quite fit, not a cell."""
FAINT = 0.3
"""A candidate in such a part is its nucleus from this share of the least probability of a nucleus on."""


class Status(IntEnum):
    """What became of a candidate."""

    REJECTED = 0
    ACCEPTED = 1
    CONFIRMED = 2
    JOINED = 3
    REDUNDANT = 4
    RESCUED = 5
    BY_PERSON = 6


@dataclass(eq=False)
class ClumpTable:
    """The candidates of a clump, what became of each, and the cells that they are nuclei of.

    Attributes
    ----------
    view : ClumpView
    proposer : RayProposer or None
        None where no outlines are proposed.
    cells : list of Cell
        In the order of their first candidates.
    """

    view: ClumpView
    proposer: RayProposer | None
    cells: list[Cell] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with every candidate rejected."""
        self.status = np.zeros(len(self.view.candidates), np.uint8)
        self._seeds: dict[Cell, Floats] = {}
        others = np.flatnonzero(~self.view.own)
        self._beside = [(index,) for index in others.tolist() if self.view.pixels(index, own=False).mask.any()]

    @property
    def probability(self) -> Floats:
        """Of the surest nucleus of each cell (n,)."""
        return self.view.candidates.probability[[cell[0] for cell in self.cells]]

    @property
    def seeds(self) -> Floats:
        """Row and column (n, 2) of a point in the nuclei of each cell, within the box."""
        return np.array([self.seed(cell) for cell in self.cells], np.float64).reshape(-1, 2)

    def seed(self, cell: Cell) -> Floats:
        """Point in the nuclei of a cell: their centroid, or their nearest pixel to it."""
        if cell not in self._seeds:
            crop = self.view.pixels(cell[0], own=bool(self.view.own[cell[0]]))
            for member in cell[1:]:
                crop = crop.join(self.view.pixels(member, own=True))
            self._seeds[cell] = seeds_from_labels(crop.mask)[0] + (crop.top, crop.left)
        return self._seeds[cell]

    def paint(self, cells: Sequence[Cell] | None = None) -> NDArray[np.int32]:
        """Number of the cell (h, w), from 1, at the pixels of its nuclei."""
        labels = np.zeros(self.view.box.shape, np.int32)
        for number, cell in enumerate(self.cells if cells is None else cells, start=1):
            for member in cell:
                crop = self.view.pixels(member, own=bool(self.view.own[member]))
                labels[crop.box][crop.mask] = number
        return labels

    def accept(self, chosen: Sequence[Cell], status: Status) -> None:
        """Take candidates for nuclei of cells of their own."""
        self.cells = sorted([*self.cells, *chosen])
        for cell in chosen:
            self.status[list(cell)] = status

    def propose(self, cells: Sequence[Cell], asked: Sequence[int]) -> tuple[Floats, Floats]:
        """Radii and their standard deviations (len(asked), A) that the network proposes for some of several cells."""
        assert self.proposer is not None
        shown = [*cells, *self._beside]
        seeds = np.array([self.seed(cell) for cell in shown]).reshape(-1, 2)
        names: list[Hashable] = [tuple(self.view.name(member) for member in sorted(cell)) for cell in shown]
        return self.proposer.propose(self.paint(shown), seeds, asked, names)


def decide(table: ClumpTable, min_nucleus: float) -> None:
    """Apply all rules but the last, in order."""
    accepted = np.flatnonzero(table.view.own & table.view.accepted)
    table.accept([(index,) for index in accepted.tolist()], Status.ACCEPTED)
    if table.proposer is None:
        return
    confirm(table, min_nucleus)
    if table.view.is_classified:
        join(table)
        drop(table)


def confirm(table: ClumpTable, min_nucleus: float) -> None:
    """Accept doubtful candidates round which the ray network sees a cell, and one that is none of the others'.

    Debris and leukocytes on a cell have no outline of their own: the network is in doubt about it, or gives the outline
    of the cell they lie on.
    """
    tried = _find_tried(table, min_nucleus)
    if not tried:
        return
    sure = len(table.cells)
    every = [*table.cells, *((index,) for index in tried)]
    radii, std = table.propose(every, range(len(every)))
    seeds = np.array([table.seed(cell) for cell in every])
    doubt = std.mean(axis=1) / np.maximum(radii.mean(axis=1), 1e-9)
    kept = list(range(sure))
    # The surest candidate first: of two in one cell it is the nucleus.
    for index in (sure + np.argsort(doubt[sure:], kind="stable")).tolist():
        near = [other for other in kept if np.hypot(*(seeds[other] - seeds[index])) < radii[[other, index]].max()]
        if doubt[index] <= MAX_STD and all(
            iou(seeds[[index, other]], radii[[index, other]]) <= MAX_IOU for other in near
        ):
            kept.append(index)
    table.accept([every[index] for index in sorted(kept[sure:])], Status.CONFIRMED)


def _find_tried(table: ClumpTable, min_nucleus: float) -> list[int]:
    """Candidates that are too doubtful for nuclei by themselves, and lie in the clump with all their pixels."""
    view, tried = table.view, []
    for index in np.flatnonzero(view.own & ~view.accepted).tolist():
        # Without a probability all are tried.
        if view.candidates.probability[index] < DOUBTFUL * min_nucleus:
            continue
        if view.pixels(index, own=True).area == np.count_nonzero(view.candidates.masks[index]):
            tried.append(index)
    return tried


def join(table: ClumpTable) -> None:
    """Make two nuclei those of one cell where the ray network sees the same cell round both."""
    if len(table.cells) < 2:
        return
    radii, _ = table.propose(table.cells, range(len(table.cells)))
    owners = find_owners(table.seeds, radii, table.probability)
    before, table.cells = table.cells, []
    for owner in np.unique(owners).tolist():
        members = [owner, *(other for other in np.flatnonzero(owners == owner).tolist() if other != owner)]
        cell = tuple(candidate for member in members for candidate in before[member])
        table.cells.append(cell)
        table.status[list(cell[1:])] = Status.JOINED


def find_owners(seeds: Floats, radii: Floats, probability: Floats) -> NDArray[np.int64]:
    """Row (N,) of the nucleus that each belongs to: its own, or the surer one of the same cell."""
    owners, means = np.arange(len(seeds)), radii.mean(axis=1)
    for index in np.argsort(-probability, kind="stable"):
        near = np.hypot(*(seeds - seeds[index]).T) < np.minimum(means, means[index])
        for other in np.flatnonzero(near):
            surer = (probability[other], -other) > (probability[index], -index)
            # Only to one that is on its own: three nuclei in a row are not one cell.
            if surer and owners[other] == other and iou(seeds[[index, other]], radii[[index, other]]) >= SAME_CELL:
                owners[index] = other
                break
    return owners


def drop(table: ClumpTable) -> None:
    """Reject doubtful nuclei round which the ray network proposes what other cells cover already."""
    probability = table.probability
    if not (probability < SURE).any():
        return
    radii, _ = table.propose(table.cells, range(len(table.cells)))
    shape = table.view.box.shape
    crops = [crop_contour(seed, row, shape) for seed, row in zip(table.seeds, radii, strict=True)]
    gone = set(find_redundant(crops, probability, table.view.mask).tolist())
    for index in gone:
        table.status[list(table.cells[index])] = Status.REDUNDANT
    table.cells = [cell for index, cell in enumerate(table.cells) if index not in gone]


def find_redundant(cells: Sequence[Crop], probability: Floats, clump: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Find doubtful cells of which too little, within the clump, lies in no other cell.

    A leukocyte or a bit of debris on a cell leads to an outline that others cover already. The one of which least is
    its own goes first; what it shared is then the others' own.

    Parameters
    ----------
    cells : sequence of N Crop
    probability : (N,) float64
        Of the nucleus of each cell.
    clump : (H, W) bool

    Returns
    -------
    (D,) int64
        Rows of cells, in rising order.
    """
    layers = np.zeros(clump.shape, np.int32)
    for cell in cells:
        layers[cell.box] += cell.mask
    left = [index for index in np.flatnonzero(probability < SURE).tolist() if cells[index].mask.any()]
    redundant: list[int] = []
    while left:
        shares = [_own_share(cells[index], layers, clump) for index in left]
        least = int(np.argmin(shares))
        if shares[least] >= OWN:
            break
        cell = cells[left[least]]
        layers[cell.box] -= cell.mask
        redundant.append(left.pop(least))
    return np.array(sorted(redundant), dtype=np.int64)


def _own_share(cell: Crop, layers: NDArray[np.int32], clump: NDArray[np.bool_]) -> float:
    within = cell.mask & clump[cell.box]
    return int(np.count_nonzero(layers[cell.box][within] == 1)) / max(int(np.count_nonzero(within)), 1)


def rescue(table: ClumpTable, crops: Sequence[Crop], min_nucleus: float, cell_area: float) -> Floats:
    """Accept the most probable candidate in each large part of the clump that no cell (crops) explains.

    A part without even a faint one gets no cell: cytoplasm without a nucleus is not told from debris. Where candidates
    have no probability, each part gives a seed without a nucleus.

    Returns
    -------
    (m, 2) float64
        Seeds without a nucleus, within the box.
    """
    view = table.view
    parts = find_unexplained(crops, view.mask, cell_area)
    if not view.is_classified:
        return np.array([_find_middle(part) for part in parts], np.float64).reshape(-1, 2)
    left = [index for index in np.flatnonzero(view.own).tolist() if not any(index in cell for cell in table.cells)]
    middles = {
        index: np.floor(table.seed((index,)) + 0.5).astype(int) for index in left if view.pixels(index, own=True).area
    }
    chosen: list[Cell] = []
    for part in parts:
        within = [
            index
            for index, (row, column) in middles.items()
            if part.top <= row < part.top + part.mask.shape[0]
            and part.left <= column < part.left + part.mask.shape[1]
            and part.mask[row - part.top, column - part.left]
        ]
        best = max(within, key=lambda index: (view.candidates.probability[index], -index), default=None)
        if best is not None and view.candidates.probability[best] >= FAINT * min_nucleus:
            chosen.append((best,))
    table.accept(chosen, Status.RESCUED)
    return np.empty((0, 2))


def find_unexplained(crops: Sequence[Crop], clump: NDArray[np.bool_], cell_area: float) -> Iterator[Crop]:
    """Large parts of a clump (H, W) that no cell explains, none at the image border.

    There, the nucleus of a cell may lie outside the image.
    """
    if not crops:
        return
    left = clump.copy()
    for crop in crops:
        left[crop.box] &= ~crop.mask
    thread = max(round(THREAD * np.sqrt(cell_area / np.pi)), 1)
    pieces, _ = ndimage.label(left)
    sizes = np.bincount(pieces[left])
    for number, outer in enumerate(ndimage.find_objects(pieces), start=1):
        # A disc that fits into what is left fits into one piece of it.
        if sizes[number] < MIN_PART * cell_area:
            continue
        parts, _ = ndimage.label(_open(pieces[outer] == number, thread))
        for inner_number, inner in enumerate(ndimage.find_objects(parts), start=1):
            part = parts[inner] == inner_number
            top, left_side = (within.start + start.start for within, start in zip(inner, outer, strict=True))
            ends = top + part.shape[0], left_side + part.shape[1]
            at_border = top == 0 or left_side == 0 or ends[0] == clump.shape[0] or ends[1] == clump.shape[1]
            if not at_border and part.sum() >= MIN_PART * cell_area:
                yield Crop(top, left_side, part)


def _find_middle(part: Crop) -> tuple[int, int]:
    """The most inner point of a part."""
    depth = ndimage.distance_transform_edt(np.pad(part.mask, 1))
    row, column = np.unravel_index(depth.argmax(), depth.shape)
    return part.top + int(row) - 1, part.left + int(column) - 1


def _open(mask: NDArray[np.bool_], radius: int) -> NDArray[np.bool_]:
    """Keep of a mask (H, W) what discs of a radius that lie within it cover; nothing lies beyond its border."""
    inner = ndimage.distance_transform_edt(np.pad(mask, 1)) > radius
    return np.asarray(ndimage.distance_transform_edt(~inner) <= radius)[1:-1, 1:-1] if inner.any() else mask & False


def iou(seeds: Floats, radii: Floats) -> float:
    """Intersection over union, from 0 to 1, of two outlines, given by two seeds (2, 2) and radii (2, K) in pixels."""
    corner = np.floor((seeds - radii.max(axis=1, keepdims=True)).min(axis=0))
    height, width = (np.ceil((seeds + radii.max(axis=1, keepdims=True)).max(axis=0)) - corner + 1).astype(int).tolist()
    one, two = (
        contours.to_mask(seed - corner, outline, (height, width)) for seed, outline in zip(seeds, radii, strict=True)
    )
    shared, either = int(np.count_nonzero(one & two)), int(np.count_nonzero(one | two))
    return shared / max(either, 1)
