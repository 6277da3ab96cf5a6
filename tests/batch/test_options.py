from __future__ import annotations

from inspect import signature

import pytest

from declump.batch import Options
from declump.cli.segment import segment
from declump.cli.slide import slide
from declump.regions import RegionOptions


def test_options_tell_which_are_heeded() -> None:
    assert Options(method="cf", prior="mine.npz").record()["method"] == "cf"
    assert Options(evidence="rays", rays="mine.onnx", setting="paper", prior="mine.npz").method == "declump"
    for method, given, name in (
        ("cf", {"setting": "paper"}, "setting"),
        ("cf", {"rays": "mine.onnx"}, "rays"),
        ("mpw", {"prior": "round"}, "prior"),
        ("mpw", {"rays": "mine.onnx", "evidence": "clump"}, "evidence and rays"),
    ):
        with pytest.raises(ValueError, match=f"^{name} would change nothing with the method {method}; leave"):
            Options(method=method, **given)


def test_wrong_numbers_and_methods_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="pixel size"):
        Options(pixel_size=-1)
    with pytest.raises(ValueError, match="areas"):
        Options(min_clump_area=-1)
    with pytest.raises(ValueError, match="no method 'snake'; the methods are declump, "):
        Options(method="snake")


def test_a_size_of_pixels_from_metadata_tells_the_diameter_but_changes_no_unit() -> None:
    given = Options(regions="classical", min_nucleus_area=30)
    assert given.region_options() == RegionOptions("classical", min_nucleus_area=30)
    assert given.region_options(0.35) == RegionOptions("classical", min_nucleus_area=30, expected_diameter=20)
    own = Options(pixel_size=0.7, min_nucleus_area=49).region_options(0.35)
    assert (own.in_pixels().expected_diameter, own.in_pixels().min_nucleus_area) == (
        pytest.approx(10),
        pytest.approx(100),
    )
    assert Options(diameter=17).region_options(0.35).diameter == 17


def test_the_command_line_has_the_same_least_probability_of_a_nucleus() -> None:
    for command in (segment, slide):
        assert signature(command).parameters["min_nucleus"].default == Options().min_nucleus
