from __future__ import annotations

from inspect import signature

import pytest

from declump.batch import Options
from declump.cli.segment import segment
from declump.cli.slide import slide
from declump.regions import RegionOptions


def test_wrong_numbers_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="pixel size"):
        Options(pixel_size=-1)


def test_a_size_of_pixels_from_metadata_tells_the_diameter() -> None:
    assert Options().region_options() == RegionOptions()
    assert Options().region_options(0.35) == RegionOptions(expected_diameter=20)
    own = Options(pixel_size=0.7).region_options(0.35)
    assert own.in_pixels().expected_diameter == pytest.approx(10)
    assert Options(diameter=17).region_options(0.35).diameter == 17


def test_the_command_line_has_the_same_least_probability_of_a_nucleus() -> None:
    for command in (segment, slide):
        assert signature(command).parameters["min_nucleus"].default == Options().min_nucleus
