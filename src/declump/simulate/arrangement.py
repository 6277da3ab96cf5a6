"""Where the cells of a simulated smear lie: clumps in which each new cell covers a wanted share of itself."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from declump.simulate.shapes import CellShape

_FULL_OVERLAP = 0.9
"""Share of a cell that lies on the rest of its clump at ``overlap=1``; a wholly hidden outline could not be told."""

_CLOSEST, _FARTHEST = 0.45, 0.8
"""Distance between the seeds of two nuclei that are laid onto each other, in sums of their greatest radii."""

_ATTEMPTS = 24
_FREE_ATTEMPTS = 200
_HALVINGS = 8


def clump_sizes(cells: int, clumps: int | None, rng: np.random.Generator) -> list[int]:
    """Split ``cells`` into clumps, largest first; without a number of clumps about a third of them are single cells."""
    if clumps is not None:
        if clumps == 0:
            return []
        shares = rng.dirichlet(np.full(clumps, 1.5))
        sizes = 1 + rng.multinomial(cells - clumps, shares)
        return sorted((int(size) for size in sizes), reverse=True)
    drawn: list[int] = []
    while sum(drawn) < cells:
        size = 1 if rng.random() < 0.35 else 1 + int(rng.geometric(0.22))
        drawn.append(min(size, cells - sum(drawn)))
    return sorted(drawn, reverse=True)


class _Table:
    """What the cells are laid on: which pixels are taken, in the image and in a border around it."""

    def __init__(self, shape: tuple[int, int], border: int) -> None:
        self.shape = shape
        self.border = border
        self.taken = np.zeros((shape[0] + 2 * border, shape[1] + 2 * border), dtype=bool)

    def window(self, cell: CellShape, position: NDArray[np.intp]) -> NDArray[np.bool_]:
        row, column = (position + self.border - cell.half).tolist()
        side = 2 * cell.half + 1
        return self.taken[row : row + side, column : column + side]

    def holds(self, cell: CellShape, position: NDArray[np.intp]) -> bool:
        """Whether the cell's seed falls on the image."""
        seed = position + cell.seed
        return bool(np.all(seed >= 0) and np.all(seed <= np.array(self.shape) - 1))

    def covered(self, cell: CellShape, position: NDArray[np.intp]) -> int:
        """Number of the cell's pixels that would lie on cells laid before."""
        return int(np.count_nonzero(self.window(cell, position) & cell.cell))

    def lay(self, cell: CellShape, position: NDArray[np.intp]) -> None:
        self.window(cell, position)[...] |= cell.cell


def arrange(
    shapes: Sequence[CellShape],
    sizes: Sequence[int],
    shape: tuple[int, int],
    overlap: float,
    rng: np.random.Generator,
    joined: float = 0.0,
) -> NDArray[np.intp]:
    """Lay cells clump by clump.

    Parameters
    ----------
    shapes : sequence of CellShape
        The cells, in the order in which they are laid.
    sizes : sequence of int
        Number of cells of each clump; they sum to the number of cells.
    shape : (int, int)
        Height and width of the image in pixels.
    overlap : float
        Degree of overlap, 0 to 1.
    rng : numpy.random.Generator
        Source of randomness.
    joined : float
        Share of the cells, beyond the first of each clump, whose nucleus is laid onto that of another.

    Returns
    -------
    (N, 2) int array
        Pixel (row, column) of the middle of each cell's patch; every seed lies in the image.
    """
    # A cell on trial lies at most two patches from one in the image, and reaches half a patch further.
    table = _Table(shape, border=4 * max((cell.half for cell in shapes), default=0))
    positions = np.zeros((len(shapes), 2), dtype=np.intp)
    first = 0
    for size in sizes:
        for index in range(first, first + size):
            if index == first:
                position = _free_place(table, shapes[index], rng)
            elif joined and rng.random() < joined:
                position = _place_onto(table, shapes, positions, range(first, index), index, rng)
            else:
                position = _place_beside(table, shapes, positions, range(first, index), index, overlap, rng)
            positions[index] = position
            table.lay(shapes[index], position)
        first += size
    return positions


def _free_place(table: _Table, cell: CellShape, rng: np.random.Generator) -> NDArray[np.intp]:
    """A place of its own in the image, or the least taken of those tried."""
    best, least = np.zeros(2, dtype=np.intp), cell.cell.size
    for _ in range(_FREE_ATTEMPTS):
        seed = rng.uniform(0, np.array(table.shape) - 1)
        position = np.clip(np.rint(seed - cell.seed), np.ceil(-cell.seed), np.array(table.shape) - 1 - cell.seed)
        candidate = np.floor(position).astype(np.intp)
        covered = table.covered(cell, candidate)
        if covered < least:
            best, least = candidate, covered
        if least == 0:
            break
    return best


def _place_onto(
    table: _Table,
    shapes: Sequence[CellShape],
    positions: NDArray[np.intp],
    members: range,
    index: int,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Lay a cell so that its nucleus covers part of that of a member of its clump."""
    cell = shapes[index]
    for _ in range(_ATTEMPTS):
        anchor = int(rng.choice(np.array(members)))
        angle = rng.uniform(0, 2 * np.pi)
        distance = rng.uniform(_CLOSEST, _FARTHEST) * (cell.nucleus_reach + shapes[anchor].nucleus_reach)
        seed = positions[anchor] + shapes[anchor].seed + distance * np.array([np.sin(angle), np.cos(angle)])
        candidate: NDArray[np.intp] = np.rint(seed - cell.seed).astype(np.intp)
        if table.holds(cell, candidate):
            return candidate
    return _free_place(table, cell, rng)


def _place_beside(
    table: _Table,
    shapes: Sequence[CellShape],
    positions: NDArray[np.intp],
    members: range,
    index: int,
    overlap: float,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Slide the cell towards a member of its clump until the wanted share is covered; keep the best of several."""
    cell = shapes[index]
    wanted = _FULL_OVERLAP * min(overlap * max(1 + 0.3 * rng.standard_normal(), 0.2), 1.0)
    seeds = positions[:index] + np.array([laid.seed for laid in shapes[:index]])
    reaches = np.array([laid.nucleus_reach for laid in shapes[:index]]) + cell.nucleus_reach
    best: NDArray[np.intp] | None = None
    least = np.inf
    for attempt in range(_ATTEMPTS):
        anchor = int(rng.choice(np.array(members)))
        angle, gap = rng.uniform(0, 2 * np.pi), rng.uniform(2, 5)
        direction = np.array([np.sin(angle), np.cos(angle)])
        # The share is of the smaller cell: a large cell cannot be covered by a small one.
        smaller = min(np.count_nonzero(cell.cell), np.count_nonzero(shapes[anchor].cell))
        near, far = float(reaches[anchor]), float(shapes[anchor].half + cell.half)
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            here = np.rint(positions[anchor] + middle * direction).astype(np.intp)
            near, far = (middle, far) if table.covered(cell, here) > wanted * smaller else (near, middle)
        distance = far + (gap if wanted == 0 else 0)
        candidate = np.rint(positions[anchor] + distance * direction).astype(np.intp)
        if not table.holds(cell, candidate):
            continue
        crowding = 1 - np.linalg.norm(seeds - candidate - cell.seed, axis=1) / reaches
        cost = abs(table.covered(cell, candidate) / smaller - wanted) + 2 * max(float(crowding.max()), 0)
        if cost < least:
            best, least = candidate, cost
        if least < 0.04 * (wanted > 0) + 1e-9 and attempt >= 3:
            break
    if best is None or (wanted == 0 and table.covered(cell, best) > 0):
        return _free_place(table, cell, rng)
    return best
