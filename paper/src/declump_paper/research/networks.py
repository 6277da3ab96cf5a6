"""Networks for one fold, trained on its training part alone; needs torch."""

from __future__ import annotations

from pathlib import Path

from declump import training
from declump._files import atomic_file
from declump.training.smears import simulate_smears
from declump_paper.regions.find import PUBLISHED, find_regions
from declump_paper.research.images import Images
from declump_paper.research.plan import Fold

RAY_SMEARS, REGION_SMEARS = 40, 24
"""Simulated smears that each network learns from beside the images."""
CALIBRATION_SMEARS, CALIBRATION_SEED = 6, 1000
"""Simulated smears that the ray network did not learn from, which its standard deviation is measured on."""
REGION_WINDOWS, RAY_WINDOWS = 4, 12
"""Windows a batch."""


def rays_beside(regions: Path) -> Path:
    """Path of the ray model that belongs to a region model."""
    return regions.with_name(regions.name.replace("regions", "rays"))


def train_networks(
    images: Images, fold: Fold, path: Path, *, steps: int, fingerprint: str, architecture: str = "declump"
) -> None:
    """Train a region network, and a ray network that sees what that one finds, on the training part of a fold.

    Parameters
    ----------
    images : Images
    fold : Fold
        With the place of the ray model, which is written first; without one, none is trained.
    path : Path
        Where the region model goes.
    steps : int
        Batches of each training.
    fingerprint : str
        Kept in the cards.
    architecture : "declump" or "paper"
        Which region network.
    """
    import torch

    from declump.training.regions.lesson import LESSON as OWN_LESSON
    from declump_paper.training.lesson import LESSON

    torch.set_num_threads(1)
    teaching = [images.load(index) for index in fold.train]
    card = {
        "data": "training part of a fold",
        "held out": sorted(images.names[index] for index in fold.test),
        "fingerprint": fingerprint,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as draft:
        schedule = training.Schedule(steps, REGION_WINDOWS, fold.number)
        lesson = LESSON if architecture == PUBLISHED else OWN_LESSON
        training.train_region_model([teaching], draft, schedule, simulated=REGION_SMEARS, lesson=lesson, card=card)
        if fold.rays is None:
            return
        # The regions that the ray network learns from were found by a network that knows these images, so that they are
        # somewhat too good; one training part allows no better.
        training.train_ray_model(
            [teaching],
            fold.rays,
            training.Schedule(steps, RAY_WINDOWS, fold.number),
            regions=[draft],
            finder=find_regions,
            validation=simulate_smears(CALIBRATION_SMEARS, CALIBRATION_SEED + fold.number),
            simulated=RAY_SMEARS,
            card={**card, "regions": [path.name]},
        )
