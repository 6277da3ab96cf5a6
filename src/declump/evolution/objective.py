"""The energy of one clump as a function of its cells' parameters: what the evolution walks on.

Each cell has t shape coefficients in units of their standard deviation, a log scale and a rotation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump.evolution.energy import PolarTable, polar_table, ray_misfit, robust_weights
from declump.evolution.layers import Layering, expected_layers
from declump.evolution.settings import Settings
from declump.records.clump import Clump
from declump.records.evidence import Evidence
from declump.shapes.alignment import TOLERATED, largest_copy
from declump.shapes.contours import MIN_RADIUS, directions, first_exits
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]

POSE_UNITS = np.array([0.2, 0.3])
"""What counts as one standard deviation of log scale and rotation (radians)."""
WIDEST_START = 1.0
"""A cell starts from its proposal within this of the prior's size, in log scale."""


@dataclass(frozen=True)
class State:
    """Parameters (n, t + 2) of all cells, the radii they give with derivatives, and the energy to be lowered."""

    parameters: Floats
    radii: Floats
    basis: Floats
    energy: float


@dataclass(frozen=True)
class Model:
    """The quadratic model m_k (equation 4) at a state; ``free`` is 0 for parameters that may not move."""

    gradient: Floats
    blocks: Floats
    pairs: NDArray[np.int64]
    shared: Floats
    free: Floats

    def step(self, region: float) -> tuple[Floats, bool]:
        """Approximate minimiser within a region (equation 5), and whether it lies on the border of the region."""
        step, on_border = _kernels.truncated_conjugate_gradient(
            self.gradient, self.blocks, self.pairs, self.shared, self.free, region, 0.1, 50
        )
        return step, on_border

    def decrease(self, step: Floats) -> float:
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
        mean_radius = float(self.mean.mean())
        self.softness = max(settings.softness * mean_radius, 1.0)
        self.penalties = np.full(prior.variances.size + 2, settings.penalty * mean_radius**2)
        self.penalties[-2:] *= settings.scale_penalty, 0.0

        self.mask, self.size = clump.mask, clump.size
        self.rows, self.columns = (np.ascontiguousarray(part) for part in clump.seeds.T)
        self.directions = directions(prior.rays)
        self.exits = np.stack([first_exits(clump.mask, seed, prior.rays) for seed in clump.seeds])
        self.targets, self.precisions = np.zeros_like(self.exits), np.zeros_like(self.exits)
        self.reach_known = prior.reach is not None and settings.reach_weight > 0
        if prior.reach is not None and self.reach_known:
            self.targets = prior.reach.expected(self.exits, clump.seeds, mean_radius)
            self.precisions += settings.reach_weight * np.pi / (prior.rays * prior.reach.spread**2)
        self.tolerances: Floats | None = None
        self.proposed: NDArray[np.bool_] = np.zeros(len(clump.seeds), dtype=np.bool_)
        self.layering: Layering | None = None
        if evidence is not None:
            self.heed(evidence.with_rays(prior.rays), mean_radius)

        self.values = clump.mask.astype(np.float64)
        self.left, self.union = np.ones(clump.mask.shape), np.zeros(clump.mask.shape, dtype=np.bool_)
        self.touched, self.united = np.empty((2, clump.mask.size), dtype=np.int64)
        self.last = np.full(clump.mask.size, -1, dtype=np.int32)
        self.covered: Floats | None = None
        self.covered_count = 0

    def heed(self, evidence: Evidence, mean_radius: float) -> None:
        """Take in proposals of outlines, before whatever the reach expects of the same rays, and of layers."""
        settings = self.settings
        if evidence.radii is not None and evidence.radii_std is not None and settings.ray_weight > 0:
            known = np.isfinite(evidence.radii_std)
            spread = np.hypot(evidence.radii_std, settings.ray_floor * mean_radius)
            weight = settings.ray_weight * np.pi * mean_radius**2 / self.mean.size
            self.targets = np.where(known, evidence.radii, self.targets)
            self.precisions = np.where(known, weight / spread**2, self.precisions)
            self.tolerances = np.where(known, settings.robustness * spread, np.inf)
            self.proposed = np.asarray(known.any(axis=1))
        if evidence.layers is not None and evidence.layers_std is not None and settings.layer_weight > 0:
            self.layering = Layering(expected_layers(evidence.layers, evidence.layers_std, settings))

    def start(self) -> State:
        """Mean shapes, aligned; or the hypotheses nearest to proposals, or to how far cells are known to reach."""
        parameters = np.zeros((len(self.exits), self.modes.shape[1] + 2))
        if self.reach_known:
            squared = np.maximum(np.sum(self.modes**2, axis=0), 1e-12)
            inner = max(self.settings.box - 0.5, 0.0)
            parameters[:, :-2] = np.clip((self.targets - self.mean) @ (self.modes / squared), -inner, inner)
        else:
            parameters[:, -2:] = self.aligned(parameters)
            limit = self.settings.start_scales / POSE_UNITS[0]
            parameters[:, -2] = np.clip(parameters[:, -2], -limit, limit)
        if self.proposed.any():
            parameters[self.proposed] = self.nearest(self.targets[self.proposed], self.precisions[self.proposed])
        return self.state(parameters)

    def nearest(self, targets: Floats, precisions: Floats) -> Floats:
        """Parameters (n, t + 2), not turned, of the hypotheses nearest to radii (n, K), inside the box.

        The radii ``a (mean + modes z)`` are linear in the scale a and in ``a z``, so this is linear least squares, with
        the penalties of ``a z`` and of ``a - 1`` for those of z and the log scale.
        """
        basis = np.column_stack([self.modes, self.mean])
        prices = np.append(self.penalties[:-2], self.penalties[-2] / POSE_UNITS[0] ** 2)
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

    def aligned(self, parameters: Floats) -> Floats:
        """Scale and rotation of the alignment (equation 1), as parameters; open cells take the others' median scale."""
        shapes = self.mean + parameters[:, :-2] @ self.modes.T
        scales, rotations = np.array([largest_copy(*pair) for pair in zip(shapes, self.exits, strict=True)]).T
        closed = np.isfinite(scales)
        scales[~closed] = np.median(scales[closed]) if closed.any() else 1.0
        return np.asarray(np.column_stack([np.log(np.maximum(scales, 1e-3)), rotations]) / POSE_UNITS)

    def moved(self, state: State, step: Floats) -> State:
        """Take a step, kept inside the hypothesis set."""
        parameters = state.parameters + step
        np.clip(parameters[:, :-2], -self.settings.box, self.settings.box, out=parameters[:, :-2])
        if not self.settings.evolve_pose:
            parameters[:, -2:] = self.aligned(parameters)
        return self.state(parameters)

    def state(self, parameters: Floats) -> State:
        """Radii, derivatives and energy of given parameters."""
        cells, count = parameters.shape
        radii, basis = np.empty((cells, self.mean.size)), np.empty((cells, self.mean.size, count))
        for cell, (*coefficients, log_scale, rotation) in enumerate(parameters):
            _kernels.pose(
                self.mean,
                self.modes,
                np.array(coefficients),
                log_scale * POSE_UNITS[0],
                rotation * POSE_UNITS[1],
                radii[cell],
                basis[cell],
            )
        basis[:, :, -2:] *= POSE_UNITS
        np.maximum(radii, MIN_RADIUS, out=radii)
        if self.settings.evolve_pose:
            return State(parameters, radii, basis, self.soft(parameters, radii))
        self.follow_alignment(radii, basis)
        return State(parameters, radii, basis, float(self.hard(radii)))

    def follow_alignment(self, radii: Floats, basis: Floats) -> None:
        """Add to the derivatives by the shape that the aligned scale gives way on the ray that limits it."""
        for cell, ratios in enumerate(self.exits / radii):
            limiting = np.argsort(ratios, kind="stable")[int(TOLERATED * ratios.size)]
            if np.isfinite(ratios[limiting]):
                basis[cell, :, :-2] -= np.outer(radii[cell] / radii[cell, limiting], basis[cell, limiting, :-2])

    def soft(self, parameters: Floats, radii: Floats) -> float:
        """Soft discrepancy, and what shape, scale, reach and evidence cost."""
        self.cover(radii)
        energy = _kernels.soft_discrepancy(self.values, self.size, self.left, self.touched, self.covered_count)
        energy += np.sum(self.penalties * parameters**2)
        if self.layering is not None:
            energy += self.layering.misfit()
        if self.tolerances is not None:
            return float(energy + ray_misfit(radii, self.targets, self.precisions, self.tolerances))
        return float(energy + np.sum(self.precisions * (radii - self.targets) ** 2))

    def hard(self, radii: Floats) -> int:
        """Equation 2 with binary masks, in pixels."""
        return int(
            _kernels.hard_discrepancy(
                self.mask,
                self.size,
                self.rows,
                self.columns,
                radii,
                *self.directions,
                self.table(radii),
                self.union,
                self.united,
            )
        )

    def model(self, state: State) -> Model:
        """Gauss-Newton model of the soft energy at a state."""
        self.cover(state.radii)
        precisions = self.precisions
        if self.tolerances is not None:
            precisions = precisions * robust_weights(state.radii - self.targets, self.tolerances)
        gradient, blocks, pairs, shared = _kernels.normal_equations(
            self.rows,
            self.columns,
            state.radii,
            state.basis,
            self.softness,
            self.table(state.radii),
            self.values,
            self.left,
            self.last,
            self.targets,
            precisions,
            None if self.layering is None else self.layering.maps,
        )
        gradient += 2 * self.penalties * state.parameters
        diagonal = np.arange(len(self.penalties))
        blocks[:, diagonal, diagonal] += 2 * self.penalties
        shape, downhill = state.parameters[:, :-2], -gradient[:, :-2]
        free = np.ones_like(gradient)
        free[:, :-2][(np.abs(shape) >= self.settings.box) & (shape * downhill > 0)] = 0
        if not self.settings.evolve_pose:
            free[:, -2:] = 0
        return Model(gradient, blocks, pairs, shared, free)

    def cover(self, radii: Floats) -> None:
        """Bring the buffers of what is left uncovered, and of how often the rest is covered, up to these radii."""
        if self.covered is radii:
            return
        self.left.ravel()[self.touched[: self.covered_count]] = 1.0
        self.covered_count = _kernels.cover(
            self.rows, self.columns, radii, self.softness, self.table(radii), self.left, self.touched
        )
        if self.layering is not None:
            self.layering.count(self.rows, self.columns, radii, self.softness, self.table(radii))
        self.covered = radii

    def table(self, radii: Floats) -> PolarTable:
        """Polar table that reaches beyond all outlines; sizes are powers of two, so that few are ever made."""
        reach = max(float(radii.max()) + self.softness + 1, 16.0)
        return polar_table(self.mean.size, 1 << int(np.ceil(np.log2(reach))))
