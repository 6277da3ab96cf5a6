"""The function, called as ``cvat-cli`` calls it, with the types of the real cvat-sdk."""

from __future__ import annotations

import logging
from importlib import import_module

import numpy as np
import pytest
from PIL import Image
from shapely import Polygon

import declump

auto_annotation = pytest.importorskip(
    "cvat_sdk.auto_annotation", reason="cvat-sdk is not installed (extra 'cvat'); make test-bridges runs this"
)

LABELS = {"nucleus": 70, "cell": 71}


@pytest.fixture(scope="module")
def smear():
    return declump.simulate.smear((320, 480), cells=6, clumps=2, rng=5)


def run(function, image, **asked):
    """What CVAT does with a function: labels are matched by name, everything is checked and gets the task's ids."""
    driver = import_module("cvat_sdk.auto_annotation.driver")
    labels = [
        auto_annotation.label_spec(name, number, type="polygon", attributes=[], sublabels=[])
        for name, number in LABELS.items()
    ]
    mapper = driver._AnnotationMapper(
        logging.getLogger(), function.spec.labels, labels, allow_unmatched_labels=False, conv_mask_to_poly=False
    )
    context = driver._DetectionFunctionContextImpl(frame_name="a.png", **asked)
    found = function.detect(context, image)
    mapper.validate_and_remap(found, ds_frame=3)
    return found


def test_every_cell_is_a_polygon_with_few_vertices(smear):
    found = run(import_module("declump.bridges.cvat").create(), Image.fromarray(smear.image))
    expected = declump.segment(smear.image)
    assert len(found) == len(expected)
    for shape, mask in zip(found, expected.masks, strict=True):
        assert (shape.type.value, shape.frame, shape.label_id) == ("polygon", 3, 71)
        ring = np.reshape(shape.points, (-1, 2))
        assert 6 < len(ring) < 60 and ring.min() >= 0 and (ring <= (480, 320)).all()
        assert Polygon(ring).area == pytest.approx(mask.sum(), rel=0.03)


def test_nuclei_are_found_when_asked_for_and_doubtful_cells_left_out(smear):
    create = import_module("declump.bridges.cvat").create
    found = run(create(nuclei=True), Image.fromarray(smear.image).convert("RGBA"))
    assert {shape.label_id for shape in found} == {70, 71}
    fewer = run(create(tolerance=4.0), Image.fromarray(smear.image), conf_threshold=0.9)
    confidence = declump.measure(declump.segment(smear.image), smear.image).cells["confidence"]
    assert len(fewer) == np.count_nonzero(confidence >= 0.9) < len(confidence)
