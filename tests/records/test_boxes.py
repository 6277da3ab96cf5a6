from __future__ import annotations

from declump.records.boxes import Box


def test_a_box_grows_up_to_the_image_and_to_a_multiple() -> None:
    assert Box(40, 50, 60, 70).grow(10, (65, 200), 16) == Box(16, 32, 65, 80)


def test_it_shrinks_on_sides_that_are_no_borders() -> None:
    assert Box(0, 10, 65, 80).shrink(5, (65, 200)) == Box(0, 15, 65, 75)


def test_boxes_meet_and_hold_each_other() -> None:
    outer, inner = Box(0, 0, 20, 30), Box(5, 25, 10, 40)
    assert outer.meet(inner) == Box(5, 25, 10, 30) and not outer.holds(inner)
    assert outer.holds(Box(5, 5, 20, 30)) and outer.meet(Box(30, 0, 40, 10)).size == 0
    assert outer.join(inner) == Box(0, 0, 20, 40)
    assert Box(5, 6, 7, 8).within(Box(4, 4, 9, 9)) == (slice(1, 3), slice(2, 4))
