"""The energy of one clump whose cells are aligned at every evaluation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.evolution.objective import POSE_UNITS, ClumpObjective, ClumpState
from declump.shapes.alignment import TOLERATED, largest_copy

Floats = NDArray[np.float64]


class AlignedObjective(ClumpObjective):
    """The energy of a clump whose cells are aligned at every evaluation: their shapes alone are free."""

    def move(self, state: ClumpState, step: Floats) -> ClumpState:
        """Take a step, kept inside the hypothesis set, and align the cells."""
        parameters = state.parameters + step
        np.clip(parameters[:, :-2], -self.settings.box, self.settings.box, out=parameters[:, :-2])
        parameters[:, -2:] = self.align(parameters)
        return self.evaluate(parameters)

    def evaluate(self, parameters: Floats) -> ClumpState:
        """Radii, derivatives and hard discrepancy of given parameters."""
        radii, basis = self.pose(parameters)
        self.follow_alignment(radii, basis)
        return ClumpState(parameters, radii, basis, float(self.hard_discrepancy(radii)))

    def align_cell(self, cell: int, parameters: Floats) -> Floats:
        """Scale and rotation (M, 2) of the alignment of one cell, for M sets of parameters; open ones keep theirs."""
        shapes = self.mean + parameters[:, :-2] @ self.modes.T
        poses = np.array([largest_copy(shape, self.exits[cell]) for shape in shapes])
        aligned = np.column_stack([np.log(np.maximum(poses[:, 0], 1e-3)), poses[:, 1]]) / POSE_UNITS
        return np.where(np.isfinite(poses[:, :1]), aligned, parameters[:, -2:])

    def follow_alignment(self, radii: Floats, basis: Floats) -> None:
        """Add to the derivatives by the shape that the aligned scale gives way on the ray that limits it."""
        for cell, ratios in enumerate(self.exits / radii):
            limiting = np.argsort(ratios, kind="stable")[int(TOLERATED * ratios.size)]
            if np.isfinite(ratios[limiting]):
                basis[cell, :, :-2] -= np.outer(radii[cell] / radii[cell, limiting], basis[cell, limiting, :-2])
