"""The energy of one clump as a function of its cells' parameters: what the evolution walks on.

Each cell has t shape coefficients in units of their standard deviation, a log scale and a rotation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump.evolution.polar import make_polar_table
from declump.evolution.settings import Settings
from declump.evolution.terms.build import build_terms
from declump.evolution.terms.term import RadiusDerivatives, SoftOutlines
from declump.records.clump import Clump
from declump.records.evidence import Evidence
from declump.shapes.alignment import largest_copy
from declump.shapes.contours import MIN_RADIUS
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]

POSE_UNITS = np.array([0.2, 0.3])
"""What counts as one standard deviation of log scale and rotation (radians)."""
WIDEST_START = 1.0
"""A cell starts from its proposal within this of the prior's size, in log scale."""


@dataclass(frozen=True)
class ClumpState:
    """Parameters (n, t + 2) of all cells, the radii they give with derivatives, and the energy to be lowered."""

    parameters: Floats
    radii: Floats
    basis: Floats
    energy: float


@dataclass(frozen=True)
class QuadraticModel:
    """The quadratic model m_k (equation 4) at a state.

    ``free`` is 0 for parameters that may not move. Steps are found by conjugate gradients, preconditioned by cells or
    plain.
    """

    gradient: Floats
    blocks: Floats
    pairs: NDArray[np.int64]
    shared: Floats
    free: Floats
    preconditioned: bool

    def find_step(self, region: float) -> tuple[Floats, bool]:
        """Approximate minimiser within a region (equation 5), and whether it lies on the border of the region."""
        step, on_border = _kernels.truncated_conjugate_gradient(
            self.gradient, self.blocks, self.pairs, self.shared, self.free, self._factorise(region), region, 0.1, 50
        )
        return step, on_border

    def _factorise(self, region: float) -> Floats:
        """Factors (N, P, P) of what a step is preconditioned by.

        The damping is that which leaves the steepest descent within the region, so that directions in which hardly
        anything changes do not use it up.
        """
        if not self.preconditioned:
            return np.tile(np.eye(self.free.shape[1]), (len(self.free), 1, 1))
        damping = float(np.linalg.norm(self.gradient * self.free)) / region
        return np.asarray(_kernels.factorise(self.blocks, self.free, damping))

    def predict_decrease(self, step: Floats) -> float:
        """Decrease that the model foresees for what is free to move in a step."""
        free = step * self.free
        return float(_kernels.predicted_decrease(self.gradient, self.blocks, self.pairs, self.shared, free))


class ClumpObjective:
    """The energy of one clump as a function of its cells' parameters, with the buffers to compute it fast."""

    def __init__(
        self, clump: Clump, prior: ShapePrior, settings: Settings, scale: float, evidence: Evidence | None = None
    ) -> None:
        self.settings = settings
        self.mean, self.modes = scale * prior.mean, scale * prior.modes * np.sqrt(prior.variances)
        self.by_mode = np.ascontiguousarray(self.modes.T)
        mean_radius = float(self.mean.mean())
        self.softness = max(settings.softness * mean_radius, 1.0)
        self.mask, self.seeds, self.size = clump.mask, clump.seeds, clump.size
        self.rows, self.columns = (np.ascontiguousarray(part) for part in clump.seeds.T)
        self.exits = clump.first_exits(prior.rays)
        self.terms = build_terms(clump, prior, settings, self.exits, mean_radius, evidence)
        self._followed: SoftOutlines | None = None

    def start(self) -> ClumpState:
        """Mean shapes, aligned; or the hypotheses nearest to proposals, or to how far cells are known to reach."""
        parameters, expected = np.zeros((len(self.exits), self.modes.shape[1] + 2)), self.terms.expected
        if expected.by_reach:
            squared = np.maximum(np.sum(self.modes**2, axis=0), 1e-12)
            inner = max(self.settings.box - 0.5, 0.0)
            parameters[:, :-2] = np.clip((expected.targets - self.mean) @ (self.modes / squared), -inner, inner)
        else:
            parameters[:, -2:] = self.align(parameters)
            limit = self.settings.start_scales / POSE_UNITS[0]
            parameters[:, -2] = np.clip(parameters[:, -2], -limit, limit)
        own = expected.proposed
        if own.any():
            parameters[own] = self.find_nearest(expected.targets[own], expected.precisions[own])
        return self.evaluate(parameters)

    def find_nearest(self, targets: Floats, precisions: Floats) -> Floats:
        """Parameters (n, t + 2), not turned, of the hypotheses nearest to radii (n, K), inside the box.

        The radii ``a (mean + modes z)`` are linear in the scale a and in ``a z``, so this is linear least squares, with
        the prices of ``a z`` and of ``a - 1`` for those of z and the log scale.
        """
        basis = np.column_stack([self.modes, self.mean])
        shape_prices, scale_price = np.split(self.terms.shape.prices[:-1], [-1])
        prices = np.append(shape_prices, scale_price / POSE_UNITS[0] ** 2)
        normal = (precisions[:, None, :] * basis.T) @ basis + np.diag(prices)
        # Without prices rays that are not known may leave it singular.
        normal += 1e-9 * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(len(prices))
        right = (precisions * targets) @ basis
        right[:, -1] += prices[-1]
        solution = np.linalg.solve(normal, right[..., None])[..., 0]
        scales = np.clip(solution[:, -1:], np.exp(-WIDEST_START), np.exp(WIDEST_START))
        inner = max(self.settings.box - 0.5, 0.0)
        shapes = np.clip(solution[:, :-1] / scales, -inner, inner)
        return np.hstack([shapes, np.log(scales) / POSE_UNITS[0], np.zeros_like(scales)])

    def align(self, parameters: Floats) -> Floats:
        """Scale and rotation of the alignment (equation 1), as parameters; open cells take the others' median scale."""
        shapes = self.mean + parameters[:, :-2] @ self.modes.T
        scales, rotations = np.array([largest_copy(*pair) for pair in zip(shapes, self.exits, strict=True)]).T
        closed = np.isfinite(scales)
        scales[~closed] = np.median(scales[closed]) if closed.any() else 1.0
        return np.asarray(np.column_stack([np.log(np.maximum(scales, 1e-3)), rotations]) / POSE_UNITS)

    def move(self, state: ClumpState, step: Floats) -> ClumpState:
        """Take a step, kept inside the hypothesis set."""
        parameters = state.parameters + step
        np.clip(parameters[:, :-2], -self.settings.box, self.settings.box, out=parameters[:, :-2])
        return self.evaluate(parameters)

    def evaluate(self, parameters: Floats) -> ClumpState:
        """Radii, derivatives and energy of given parameters."""
        radii, basis = self.pose(parameters)
        if self.settings.alignment == "joint":
            return ClumpState(parameters, radii, basis, self.energy(parameters, radii))
        return ClumpState(parameters, radii, basis, float(self.hard_discrepancy(radii)))

    def pose(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Radii (M, K) of M sets of parameters, and their derivatives (M, K, t + 2)."""
        cells, count = parameters.shape
        radii, basis = np.empty((cells, self.mean.size)), np.empty((cells, self.mean.size, count))
        shapes = self.mean, self.modes, self.by_mode
        _kernels.pose_cells(*shapes, np.ascontiguousarray(parameters), POSE_UNITS, radii, basis)
        np.maximum(radii, MIN_RADIUS, out=radii)
        return radii, basis

    def energy(self, parameters: Floats, radii: Floats) -> float:
        """Sum of all terms: soft discrepancy, and what shape, scale, reach and evidence cost."""
        outlines = self._follow(radii)
        return sum(term.value(parameters, outlines) for term in self.terms.every)

    def hard_discrepancy(self, radii: Floats) -> int:
        """Equation 2 with binary masks, in pixels."""
        self._follow(radii)
        return self.terms.discrepancy.count_pixels()

    def unexplained(self, state: ClumpState) -> int:
        """Equation 2 at a state; not counted again where it is the energy itself."""
        return self.hard_discrepancy(state.radii) if self.settings.alignment == "joint" else int(state.energy)

    def build_model(self, state: ClumpState) -> QuadraticModel:
        """Gauss-Newton model of the soft energy at a state."""
        outlines, derivatives = self._follow(state.radii), RadiusDerivatives.zeros(state.basis)
        for term in self.terms.every:
            term.add_by_radius(outlines, derivatives)
        gradient, blocks, pairs, shared = derivatives.project()
        for term in self.terms.every:
            term.add_by_parameter(state.parameters, gradient, blocks)
        shape, downhill = state.parameters[:, :-2], -gradient[:, :-2]
        free = np.ones_like(gradient)
        free[:, :-2][(np.abs(shape) >= self.settings.box) & (shape * downhill > 0)] = 0
        if self.settings.alignment != "joint":
            free[:, -2:] = 0
        return QuadraticModel(gradient, blocks, pairs, shared, free, self.settings.alignment == "joint")

    def _follow(self, radii: Floats) -> SoftOutlines:
        """Bring the buffers of all terms up to these radii, unless they are."""
        outlines = self._outline(radii)
        if outlines is not self._followed:
            for term in self.terms.every:
                term.follow(outlines)
            self._followed = outlines
        return outlines

    def _outline(self, radii: Floats) -> SoftOutlines:
        """Outlines with a table that reaches beyond them; its sizes are powers of two, so that few are ever made."""
        if self._followed is not None and self._followed.radii is radii:
            return self._followed
        reach = max(float(radii.max()) + self.softness + 1, 16.0)
        table = make_polar_table(self.mean.size, 1 << int(np.ceil(np.log2(reach))))
        return SoftOutlines(self.rows, self.columns, radii, self.softness, table)
