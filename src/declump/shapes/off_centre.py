"""Priors for seeds that are not centres.

A prior learnt from centroids expects the seed in the middle. A seed that was found, in what is seen of an object, lies
off the middle of the whole; about it, the radii of a disc have one wave round the circle. Letting that wave vary lets
the outline move off its seed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from declump.shapes.prior import ShapePrior

SHARE = 0.2
"""How far seeds lie off the middle, in mean radii: standard deviation along either axis."""


def widen_for_offset(prior: ShapePrior, share: float = SHARE) -> ShapePrior:
    """Widen a prior for seeds that lie off the centres of the objects.

    Parameters
    ----------
    prior : ShapePrior
    share : float
        Standard deviation of the seeds' offset along either axis, in mean radii; at least 0.

    Returns
    -------
    ShapePrior
        With the covariance of the radii of the prior plus that of the offset, and with up to two modes more.
    """
    if not (np.isfinite(share) and share >= 0):
        raise ValueError(
            f"the share of the radius by which seeds lie off the centre is a number >= 0; given was {share}"
        )
    angles = 2 * np.pi * np.arange(prior.rays) / prior.rays
    offset = share * prior.mean.mean() * np.column_stack([np.cos(angles), np.sin(angles)])
    modes, spreads, _ = np.linalg.svd(np.hstack([prior.modes * np.sqrt(prior.variances), offset]), full_matrices=False)
    kept = spreads > 1e-9 * prior.mean.mean()
    return replace(prior, modes=modes[:, kept], variances=spreads[kept] ** 2)
