from __future__ import annotations

import pytest

from declump.training.examples import divide_examples
from support.annotated_smears import annotated


def test_images_teach_by_folder_or_are_measured_on() -> None:
    one, two, three = (annotated(number) for number in range(3))
    groups, measured = divide_examples(
        [[one, two], [three]],
        [two.name],
        teach=lambda image: f"taught {image.name}",
        measure=lambda image: f"measured {image.name}",
    )
    assert groups == [[f"taught {one.name}"], [f"taught {three.name}"]]
    assert measured == [f"measured {two.name}"]


def test_an_image_to_hold_out_must_be_there() -> None:
    with pytest.raises(ValueError, match=r"to hold out \(nowhere\) are in none"):
        divide_examples([[annotated(0)]], ["nowhere"], teach=lambda image: 1, measure=lambda image: 1)
