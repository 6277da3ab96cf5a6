"""``declump.segment``: an image in, whole cells out, with every kind of evidence."""

from __future__ import annotations

import numpy as np
import pytest

import declump
from declump import simulate
from declump.evidence import Evidence
from declump.regions import RegionOptions, channels

SMEAR = simulate.smear((300, 320), cells=6, overlap=0.5, debris=0, rng=12)
TRUE = declump.Regions(SMEAR.clump, np.max(SMEAR.nuclei * np.arange(1, 7)[:, None, None], axis=0).astype(np.int32))


@pytest.fixture(scope="module")
def regions() -> declump.Regions:
    return declump.find_regions(SMEAR.image)


def dice(result: declump.Segmentation) -> float:
    return declump.score(SMEAR.cells, result.masks).dice_all


@pytest.mark.parametrize("kind", ["clump", "rays"])
def test_every_kind_of_evidence_finds_the_cells(kind: str, regions: declump.Regions) -> None:
    assert dice(declump.segment(SMEAR.image, regions=regions, evidence=kind)) > 0.7


def test_rays_are_the_default_and_tell_of_hidden_outlines(regions: declump.Regions) -> None:
    default, rays, clump = (
        declump.segment(SMEAR.image, regions=TRUE, evidence=kind) for kind in (None, "rays", "clump")
    )
    np.testing.assert_array_equal(default.radii, rays.radii)
    assert dice(rays) > dice(clump)


def test_the_paper_heeds_the_clump_alone(regions: declump.Regions) -> None:
    paper = declump.segment(SMEAR.image, regions=regions, setting="paper")
    alone = declump.evolve(regions.clump, regions.seeds, setting="paper")
    np.testing.assert_array_equal(paper.radii, alone.radii)


def test_own_evidence(regions: declump.Regions) -> None:
    radii = declump.shape_examples(SMEAR.cells, TRUE.seeds).radii
    own = Evidence(radii=radii, radii_std=np.ones_like(radii))
    assert dice(declump.segment(SMEAR.image, regions=TRUE, evidence=own)) > 0.95


def test_nuclei_are_kept_beside_the_cells(regions: declump.Regions) -> None:
    result = declump.segment(SMEAR.image, regions=regions)
    np.testing.assert_array_equal(result.nuclei, regions.nuclei)


def test_the_same_image_gives_the_same_bytes() -> None:
    first, second = (declump.segment(SMEAR.image) for _ in range(2))
    assert first.radii.tobytes() == second.radii.tobytes()


def test_evidence_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="'rays', 'clump' or an Evidence, got 'tea leaves'"):
        declump.segment(SMEAR.image, regions=TRUE, evidence="tea leaves")
    with pytest.raises(FileNotFoundError, match="no ray model"):
        declump.segment(SMEAR.image, regions=TRUE, rays="nowhere.onnx")
    with pytest.raises(ValueError, match="another image"):
        declump.segment(SMEAR.image[:100], regions=TRUE)


def test_without_cells_there_is_nothing_to_propose() -> None:
    assert len(declump.segment(np.full((80, 90), 220, np.uint8))) == 0


def test_the_image_is_prepared_once_whatever_the_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    made, before = [], channels.split_colour

    def count(image: np.ndarray) -> tuple[np.ndarray, ...]:
        made.append(np.shape(image))
        return before(image)

    monkeypatch.setattr(channels, "split_colour", count)
    for how in ({}, {"evidence": "clump"}, {"regions": TRUE}, {"diameter": 20}):
        made.clear()
        declump.segment(SMEAR.image, **how)
        assert made == [SMEAR.image.shape] * 2  # to measure its light, and to correct it


def test_options_of_the_regions_reach_them() -> None:
    options = RegionOptions(diameter=20, cut_nuclei=True, judge="none")
    found = declump.find_regions(SMEAR.image, diameter=20, cut_nuclei=True, judge="none")
    whole, parts = (
        declump.segment(SMEAR.image, regions=options),
        declump.segment(SMEAR.image, regions=found, diameter=20),
    )
    assert whole.radii.tobytes() == parts.radii.tobytes() and (whole.nuclei == parts.nuclei).all()
    with pytest.raises(ValueError, match="part of the RegionOptions"):
        declump.segment(SMEAR.image, regions=options, diameter=20)


def test_clumps_without_a_missing_seed_keep_their_cells() -> None:
    """A cell round the corner, which no other can reach, is found, and changes nothing in other clumps."""
    rows, columns = np.indices((260, 460))
    centres = [(70, 60), (70, 100), (70, 230), (200, 60), (70, 286), (126, 286)]
    discs = [np.hypot(rows - row, columns - column) for row, column in centres]
    known = declump.Regions(np.min(discs, axis=0) < 32, np.min(discs[:4], axis=0) < 5)
    evidence = Evidence(radii=np.full((4, 90), 32.0), radii_std=np.full((4, 90), 1.0))
    result = declump.segment(np.zeros((260, 460)), regions=known, evidence=evidence)
    assert len(result) == 5 and np.hypot(*(result.seeds[4] - centres[5])) < 5
    first = declump.evolve(known.clump, known.seeds, evidence=evidence)
    kept = np.flatnonzero(first.clump != result.clump[4])
    assert kept.size == 3 and result.radii[kept].tobytes() == first.radii[kept].tobytes()
    assert result.energy[result.clump[4]] < first.energy[result.clump[4]] / 2


def test_a_mirrored_image_gives_the_same_cells_mirrored() -> None:
    image = simulate.smear((200, 240), cells=6, radius=30, overlap=0.3, rng=8).image
    cells = declump.segment(image).masks
    other = declump.segment(np.ascontiguousarray(image[:, ::-1])).masks[..., ::-1]
    assert len(cells) >= 4
    assert declump.score(cells, np.ascontiguousarray(other), matching="hungarian").dice_all > 0.97


def test_stages_are_named_as_they_begin() -> None:
    image = simulate.smear((150, 150), cells=3, radius=30, rng=1).image
    stages: list[str] = []
    declump.segment(image, stage=stages.append)
    assert stages == ["regions", "cells"]
