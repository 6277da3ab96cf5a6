"""The shape prior: a mean outline and its modes of variation, learnt from examples."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump._files import atomic_file, file_digest
from declump.errors import BROKEN, reason_of
from declump.shapes.contours import MIN_RAYS
from declump.shapes.examples import ShapeExamples
from declump.shapes.named import MADE, NAMES, find_shipped
from declump.shapes.reach import ReachModel

EXPLAINED = 0.995
"""Share of the variance the modes must exceed, as in the paper."""


@dataclass(frozen=True)
class ShapePrior:
    """The set of shape hypotheses ``mean + modes @ x``.

    Attributes
    ----------
    mean : (K,) float64
        Mean radii in pixels.
    modes : (K, t) float64
        Orthonormal eigenvectors of the covariance, by falling variance.
    variances : (t,) float64
        Variance of the examples along each mode in square pixels.
    reach : ReachModel, optional
        What is known of how far a cell extends in its clump; see :mod:`declump.shapes.reach`. None knows shapes only.
    card : mapping
        What the prior was made from, for people: text and numbers.
    examples : (N, K) float64, optional
        Shapes it was learnt from, in pixels; kept only where the hypotheses are to be these alone
        (the paper's ablation F).
    """

    mean: NDArray[np.float64]
    modes: NDArray[np.float64]
    variances: NDArray[np.float64]
    reach: ReachModel | None = None
    card: Mapping[str, Any] = field(default_factory=dict)
    examples: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that are no prior."""
        for name in ("mean", "modes", "variances"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.float64))
        rays, count = self.mean.size, self.variances.size
        if self.mean.ndim != 1 or rays < MIN_RAYS or self.modes.shape != (rays, count) or self.variances.ndim != 1:
            raise ValueError(
                f"a prior has mean (K,) with K >= {MIN_RAYS}, modes (K, t) and variances (t,); "
                f"given were {self.mean.shape}, {self.modes.shape} and {self.variances.shape}"
            )
        if not all(np.isfinite(part).all() for part in (self.mean, self.modes, self.variances)):
            raise ValueError("a prior holds finite numbers only; these arrays have NaN or infinity")
        if self.mean.min() <= 0 or (count and self.variances.min() <= 0):
            raise ValueError("mean radii and variances of a prior are positive; these are not all so")
        if self.examples is not None:
            kept = np.ascontiguousarray(self.examples, dtype=np.float64)
            object.__setattr__(self, "examples", kept)
            if kept.ndim != 2 or not len(kept) or kept.shape[1] != rays or not np.isfinite(kept).all():
                raise ValueError(f"examples of a prior are finite radii (N, {rays}); given were {kept.shape}")

    @property
    def rays(self) -> int:
        """Number of rays K."""
        return self.mean.size

    @classmethod
    def fit(
        cls,
        radii: ArrayLike | ShapeExamples,
        *,
        weights: ArrayLike | None = None,
        in_covariance: bool = False,
        modes: int | None = None,
        explained: float = EXPLAINED,
        card: Mapping[str, Any] | None = None,
    ) -> ShapePrior:
        """Learn a prior from shape examples (equations 6 and 7).

        The importance of the examples enters the mean; the covariance about that mean counts every example once, as
        printed, unless it is to be weighted, too. Examples that the image border cuts, as
        :func:`declump.shape_examples` flags them, stay out.

        Parameters
        ----------
        radii : (N, K) float, or ShapeExamples
            Radii of whole cells in pixels.
        weights : (N,) float, optional
            Importance of each example, 1 by default; only ratios matter.
        in_covariance : bool
            Whether the weights enter the covariance, too (not in the paper).
        modes : int, optional
            Number of modes t. By default the first that hold more than ``explained`` of the variance.
        explained : float
            See ``modes``.
        card : mapping, optional
            What to note about the origin of the examples.

        Returns
        -------
        ShapePrior

        Examples
        --------
        >>> import numpy as np
        >>> sizes = np.array([20.0, 22.0, 24.0, 26.0])
        >>> prior = ShapePrior.fit(sizes[:, None] * np.ones(36))
        >>> prior.modes.shape, float(round(prior.mean[0], 6))
        ((36, 1), 23.0)
        """
        kept = ~radii.cut if isinstance(radii, ShapeExamples) else slice(None)
        examples = np.asarray(radii, dtype=np.float64)
        if (
            examples.ndim != 2
            or not examples.shape[1]
            or not np.isfinite(examples).all()
            or (examples.size and examples.min() < 0)
        ):
            raise ValueError("shape examples are an (N, K) array of finite radii >= 0; these are not")
        importance = np.ones(len(examples)) if weights is None else np.asarray(weights, dtype=np.float64)
        if importance.shape != (len(examples),) or not np.isfinite(importance).all() or np.any(importance < 0):
            raise ValueError(f"weights are ({len(examples)},), one a shape, finite and >= 0; these are not")
        examples, importance = examples[kept], importance[kept]
        if len(examples) < 2 or importance.sum() <= 0:
            raise ValueError(
                f"a prior needs at least two whole shapes with a positive weight; {len(examples)} are left once those "
                "cut by the image border are out"
            )
        mean = importance @ examples / importance.sum()
        centred = examples - mean
        if in_covariance and weights is not None:
            centred *= np.sqrt(importance * len(examples) / importance.sum())[:, None]
        vectors, variances = principal_modes(centred, noise=1e-18 * float(mean @ mean))
        count = mode_count(variances, explained) if modes is None else modes
        if not 0 <= count <= len(variances):
            raise ValueError(f"these examples have {len(variances)} modes of variation; asked for were {count}")
        return cls(mean, vectors[:, :count], variances[:count], card=dict(card or {}))

    def instance(self, coefficients: ArrayLike) -> NDArray[np.float64]:
        """Shape of given coefficients: ``mean + modes @ x``, for x of shape (..., t) an array (..., K) of radii."""
        return self.mean + np.asarray(coefficients, dtype=np.float64) @ self.modes.T

    def project(self, radii: ArrayLike) -> NDArray[np.float64]:
        """Coefficients (..., t) of the hypothesis nearest to given radii (..., K)."""
        return np.asarray((np.asarray(radii, dtype=np.float64) - self.mean) @ self.modes)

    def save(self, path: str | Path) -> None:
        """Write the prior as ``.npz``; the same prior always gives the same bytes."""
        arrays = {"mean": self.mean, "modes": self.modes, "variances": self.variances}
        if self.reach is not None:
            arrays["reach"] = np.array([self.reach.spread, self.reach.intercept, *self.reach.weights])
        if self.examples is not None:
            arrays["examples"] = self.examples
        arrays["card"] = np.frombuffer(json.dumps(dict(self.card), sort_keys=True).encode(), dtype=np.uint8)
        with atomic_file(path) as draft, zipfile.ZipFile(draft, "w") as archive:
            for name, array in arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, array, allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED)

    @classmethod
    def load(cls, source: str | Path) -> ShapePrior:
        """Read a prior.

        Parameters
        ----------
        source : str or Path
            A name: ``"cytoplasm"`` or ``"default"`` (cervical cells, seeds at their nuclei), ``"paper"`` (the same
            cells as the paper has them, without turned and mirrored copies and reach), ``"nucleus"`` (their nuclei),
            ``"round"`` (smooth roundish things, from geometry alone; :mod:`declump.shapes.round`). Or the path of a
            file that :meth:`save` wrote.

        Returns
        -------
        ShapePrior
        """
        if str(source) in MADE:
            made = MADE[str(source)]()
            return cls(made.mean, made.modes, made.variances, card=made.card)
        path = find_shipped(str(source)) or Path(source)
        if not path.is_file():
            names = ", ".join(map(repr, NAMES))
            raise FileNotFoundError(f"there is no prior at {path}: give the path of an .npz file, or one of {names}")
        try:
            kept = _read(path, file_digest(path))
        except (*BROKEN, OSError) as error:
            raise ValueError(f"{path} is not a prior that declump wrote ({reason_of(error)})") from error
        return copy.deepcopy(kept)  # whoever asked for it may change it


@lru_cache(maxsize=4)
def _read(path: Path, _content: str) -> ShapePrior:
    """Read the file of a prior; once, as long as what is in it stays the same."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        mean, modes, variances = arrays["mean"], arrays["modes"], arrays["variances"]
        card = json.loads(arrays["card"].tobytes())
        reach = None
        if "reach" in arrays:
            spread, intercept, *weights = arrays["reach"]
            reach = ReachModel(np.array(weights), float(intercept), float(spread))
        return ShapePrior(mean, modes, variances, reach, card, arrays.get("examples"))


def add_turned_copies(radii: ArrayLike, turns: int = 12) -> NDArray[np.float64]:
    """Copies of shapes in evenly spaced directions, each also mirrored: a smear has no up and no handedness.

    Parameters
    ----------
    radii : (N, K) float
    turns : int
        Directions; the turns are rounded to whole rays.

    Returns
    -------
    (2 * turns * N, K) float64
    """
    radii = np.asarray(radii, dtype=np.float64)
    mirrored = np.roll(radii[:, ::-1], 1, axis=1)
    both = np.concatenate([radii, mirrored])
    shifts = np.round(np.arange(turns) * radii.shape[1] / turns).astype(int)
    return np.concatenate([np.roll(both, shift, axis=1) for shift in shifts])


def principal_modes(centred: NDArray[np.float64], noise: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvectors and eigenvalues of the covariance 1/N sum(c c^T), without those that rounding makes.

    Of each vector the largest entry is positive, so that it does not depend on the machine.
    """
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    count = int(np.sum(values > max(1e-12 * values[0], noise)))
    vectors = vectors[:, :count]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    return vectors * np.where(largest < 0, -1.0, 1.0), values[:count]


def mode_count(variances: NDArray[np.float64], explained: float) -> int:
    """First number of modes, by falling variance, that hold more than this share of the variance."""
    if not 0 < explained <= 1:
        raise ValueError(f"the explained share of variance lies in (0, 1]; given was {explained}")
    if not variances.size:
        return 0
    share = np.cumsum(variances) / variances.sum()
    return min(int(np.searchsorted(share, explained, side="right")) + 1, variances.size)
