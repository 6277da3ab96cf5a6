from __future__ import annotations

import numpy as np
import pytest

import declump
from declump.batch.rehearsal import two_discs
from declump.regions import RegionOptions, Regions
from declump_paper.compared import METHODS as COMPARED
from declump_paper.methods import METHODS, find_method, method_names

SMEAR = declump.simulate.smear((160, 200), cells=3, overlap=0.3, blur=0.5, debris=0, rng=5)
REGIONS = Regions(SMEAR.clump, (SMEAR.nuclei * np.arange(1, 4)[:, None, None]).max(axis=0))


def test_which_methods_there_are() -> None:
    assert method_names() == ("declump", *COMPARED) == tuple(METHODS)
    assert method_names(["cf", "declump", "cf"]) == ("cf", "declump")
    with pytest.raises(ValueError, match="no method 'snake'; the methods are declump, "):
        method_names(["cf", "snake"])
    with pytest.raises(ValueError, match="no method is given"):
        method_names([])
    with pytest.raises(ValueError, match="no method 'snake'"):
        find_method("snake")


def test_every_method_can_rehearse() -> None:
    image, regions = two_discs()
    for method in METHODS.values():
        assert len(method(image, regions)) == 2


def test_our_own_is_segment() -> None:
    found = find_method("declump")(SMEAR.image, REGIONS, evidence="clump", setting="paper")
    assert found.radii.tobytes() == declump.segment(SMEAR.image, regions=REGIONS, setting="paper").radii.tobytes()


def test_a_compared_method_finds_regions_as_it_is_told() -> None:
    options = RegionOptions(diameter=22)
    known = declump.find_regions(SMEAR.image, diameter=22)
    for name, how in (("mpw", {}), ("cf", {"prior": "round"})):
        prior = declump.ShapePrior.load(how["prior"]) if how else None
        alone = COMPARED[name](SMEAR.image, known, prior=prior)
        assert find_method(name)(SMEAR.image, options, **how).radii.tobytes() == alone.radii.tobytes()


def test_what_a_method_does_not_heed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^prior would change nothing with the method mpw; leave it out"):
        find_method("mpw")(SMEAR.image, REGIONS, prior="round")
    with pytest.raises(ValueError, match=r"^rays and setting would change nothing with the method cf; leave them out"):
        find_method("cf")(SMEAR.image, REGIONS, rays="mine.onnx", setting="paper")
