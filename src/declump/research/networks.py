"""Networks for one fold, trained on its training part alone; needs torch."""

from __future__ import annotations

from pathlib import Path

from declump._files import atomic_file
from declump.research.images import Images
from declump.research.plan import Fold

RAY_SMEARS, REGION_SMEARS = 40, 24
"""Simulated smears that each network learns from beside the images."""
CALIBRATION_SMEARS, CALIBRATION_SEED = 6, 1000
"""Simulated smears that the ray network did not learn from, which its doubt is measured on."""
POWERS = (0.1, 5.0)
"""Powers of a calibration that mean something; those of trained networks lie near 1.7."""


def rays_beside(regions: Path) -> Path:
    """Path of the ray model that belongs to a region model."""
    return regions.with_name(regions.name.replace("regions", "rays"))


def train_networks(images: Images, fold: Fold, path: Path, *, steps: int, fingerprint: str) -> None:
    """Train a region network, and a ray network that sees what that one finds, on the training part of a fold.

    Parameters
    ----------
    images : Images
    fold : Fold
    path : Path
        Where the region model goes; the ray model goes beside it, first.
    steps : int
        Batches of each training.
    fingerprint : str
        Kept in the cards.
    """
    import torch

    from declump.regions import find_regions
    from declump.training.export import export
    from declump.training.rays import examples as ray_examples
    from declump.training.rays import loop as ray_loop
    from declump.training.rays import network as ray_network
    from declump.training.regions import loop, network, targets

    torch.set_num_threads(1)
    teaching = [images.load(index) for index in fold.train]
    card = {
        "data": "training part of a fold",
        "held out": sorted(images.names[index] for index in fold.test),
        "steps": steps,
        "seed": fold.number,
        "fingerprint": fingerprint,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as draft:
        groups = [[targets.make_example(image) for image in teaching]]
        groups.append(targets.simulate_examples(REGION_SMEARS, fold.number))
        trained, _ = loop.train(groups, [], steps=steps, size=4, seed=fold.number)
        export(trained, draft, card, shape=network.TRIED, free=network.FREE_AXES)
        # The regions that the ray network learns from were found by a network that knows these images, so that they are
        # somewhat too good; one training part allows no better.
        seen = [ray_examples.make_example(image, [find_regions(image.image, model=draft)]) for image in teaching]
        rays, curve = ray_loop.train(
            [seen, ray_examples.simulate_examples(RAY_SMEARS, fold.number, draft)],
            ray_examples.simulate_examples(CALIBRATION_SMEARS, CALIBRATION_SEED + fold.number, draft),
            steps=steps, size=12, seed=fold.number,
        )  # fmt: skip
        factor, power = (float(curve[-1].get(name, 1.0)) for name in ("doubt_factor", "doubt_power"))
        # A network that has hardly learnt anything tells nothing by its doubt: that is then left as it is.
        calibration = (factor, power) if POWERS[0] <= power <= POWERS[1] else (1.0, 1.0)
        export(
            ray_network.Proposer(rays, *calibration), rays_beside(path), {**card, "calibration": calibration},
            shape=ray_network.TRIED, free=ray_network.FREE_AXES,
        )  # fmt: skip
