"""Multi-shape evolution (equations 3 to 5): a trust region over all cells of one clump."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump.alignment import largest_copy
from declump.clumps import Clump
from declump.contours import directions, first_exits
from declump.energy import polar_table
from declump.prior import ShapePrior

Floats = NDArray[np.float64]
Stopped = Literal["explained", "no decrease", "bound"]


@dataclass(frozen=True)
class Settings:
    evolve_pose: bool = True
    penalty: float = 0.003
    box: float = 3.0
    softness: tuple[float, ...] = (0.2, 0.08)
    explained: float = 0.05
    steps: int = 30
    decrease: float = 1e-3
    scale_unit: float = 0.2
    rotation_unit: float = 0.3
    size_penalty: float = 0.0
    clip: float = 9.0


JOINT = Settings()
PAPER = Settings(evolve_pose=False, penalty=0.0, box=np.inf, softness=(0.08,))


@dataclass(frozen=True)
class Evolution:
    radii: Floats
    coefficients: Floats
    log_scales: Floats
    rotations: Floats
    history: tuple[int, ...]
    stopped: Stopped
    steps: int = 0


class Workspace:
    def __init__(self, clump: Clump, prior: ShapePrior, settings: Settings, targets=None, precisions=None):
        self.clump = clump
        self.prior = prior
        self.settings = settings
        self.rows = np.ascontiguousarray(clump.seeds[:, 0])
        self.columns = np.ascontiguousarray(clump.seeds[:, 1])
        self.deviations = np.sqrt(prior.variances)
        self.modes = prior.modes * self.deviations
        self.size = clump.size
        self.clump_values = clump.mask.astype(np.float64)
        self.left = np.ones(clump.mask.shape)
        self.touched = np.empty(clump.mask.size, dtype=np.int64)
        self.exits = np.stack([first_exits(clump.mask, seed, prior.rays) for seed in clump.seeds])
        n, k, p = len(clump.seeds), prior.rays, prior.variances.size + 2
        self.shape = (n, k, p)
        self.targets = np.zeros((n, k)) if targets is None else targets
        self.precisions = np.zeros((n, k)) if precisions is None else precisions
        self.units = np.ones(p)
        self.units[-2:] = settings.scale_unit, settings.rotation_unit
        self.rises, self.runs = directions(k)

    def pose(self, x):
        n, k, p = self.shape
        radii, basis = np.empty((n, k)), np.empty((n, k, p))
        for i in range(n):
            _kernels.pose(self.prior.mean, self.modes, x[i, :-2], x[i, -2] * self.units[-2], x[i, -1] * self.units[-1], radii[i], basis[i])
        np.maximum(radii, 0.5, out=radii)
        basis[:, :, -2:] *= self.units[-2:]
        return radii, basis

    def table(self, radii, softness):
        reach = int(radii.max() + softness) + 2
        reach = 1 << int(np.ceil(np.log2(max(reach, 16))))
        return polar_table(radii.shape[1], reach)

    def cover(self, radii, softness):
        self.left.ravel()[self.touched[: getattr(self, "count", 0)]] = 1.0
        self.count = _kernels.cover(self.rows, self.columns, radii, softness, self.table(radii, softness), self.left, self.touched)

    def objective(self, x, radii, softness):
        self.cover(radii, softness)
        e = _kernels.soft_discrepancy(self.clump_values, self.left, self.touched, self.count, self.size)
        e += self.lam * np.sum(x[:, :-2] ** 2) + self.lam * self.settings.size_penalty * np.sum((x[:, -2] - self.size0) ** 2)
        return e + np.sum(self.precisions * (radii - self.targets) ** 2)

    def start(self):
        n, k, p = self.shape
        x = np.zeros((n, p))
        for i in range(n):
            scale, rot = largest_copy(self.prior.mean, self.exits[i])
            x[i, -2], x[i, -1] = np.log(max(scale, 1e-3)), rot
        s = x[:, -2]
        fin = np.isfinite(s)
        s[~fin] = np.median(s[fin]) if fin.any() else 0.0
        x[:, -2:] /= self.units[-2:]
        return x

    def hard(self, radii):
        return 0
        return int(_kernels.hard_discrepancy(self.clump.mask, self.rows, self.columns, radii, self.rises, self.runs))

    def run(self, x=None):
        s = self.settings
        if x is None: x = self.start()
        radii, basis = self.pose(x)
        rho = float(np.median(radii.mean(axis=1)))
        self.lam = s.penalty * rho * rho
        self.size0 = 0*x[:, -2]
        lo=self.settings.clip/self.units[-2]; x[:,-2]=np.clip(x[:,-2],-lo,lo); radii, basis = self.pose(x)
        n = len(x)
        history = [self.hard(radii)]
        total = 0
        stopped = "bound"
        for level in s.softness:
            soft = max(level * rho, 1.0)
            radius = np.sqrt(n) * 1.0
            energy = self.objective(x, radii, soft)
            for _ in range(s.steps):
                total += 1
                dirty=False
                if dirty: self.cover(radii, soft)
                g, blocks, pairs, shared = _kernels.normal_equations(self.rows, self.columns, radii, basis, soft, self.table(radii, soft), self.clump_values, self.left, self.targets, self.precisions)
                g[:, :-2] += 2 * self.lam * x[:, :-2]
                idx = np.arange(x.shape[1] - 2)
                blocks[:, idx, idx] += 2 * self.lam
                g[:, -2] += 2 * self.lam * s.size_penalty * (x[:, -2]-self.size0)
                blocks[:, -2, -2] += 2 * self.lam * s.size_penalty
                free = np.ones_like(x)
                free[:, :-2][(x[:, :-2] >= s.box) & (g[:, :-2] < 0)] = 0
                free[:, :-2][(x[:, :-2] <= -s.box) & (g[:, :-2] > 0)] = 0
                while True:
                    step, border = _kernels.truncated_conjugate_gradient(g, blocks, pairs, shared, free, radius, 0.1, 40)
                    trial = x + step
                    np.clip(trial[:, :-2], -s.box, s.box, out=trial[:, :-2])
                    step = trial - x
                    predicted = _kernels.predicted_decrease(g, blocks, pairs, shared, step)
                    tr, tb = self.pose(trial)
                    te = self.objective(trial, tr, soft)
                    ratio = (energy - te) / predicted if predicted > 0 else -1
                    if ratio < 0.25: radius = min(radius, np.linalg.norm(step)) / 4
                    elif ratio > 0.75 and border: radius *= 2
                    if ratio > 0.15 or radius < 1e-3: break
                    dirty=True
                if ratio <= 0.15:
                    stopped = "no decrease"; break
                gain = energy - te
                x, radii, basis, energy = trial, tr, tb, te
                history.append(self.hard(radii))
                if gain < s.decrease * energy:
                    stopped = "no decrease"; break
        return Evolution(radii, x[:, :-2], x[:, -2] * self.units[-2], x[:, -1] * self.units[-1], tuple(history), stopped, total)
