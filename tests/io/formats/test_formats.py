from __future__ import annotations

import pytest

from declump.cli import segment as command
from declump.io.formats import FORMATS, READ_FIRST, format_names


def test_names_of_formats() -> None:
    assert format_names(["tiff", "png", "zarr"]) == ("contours", "overlay", "planes", "flat", "ome-zarr")
    assert format_names([]) == ("contours",)
    with pytest.raises(ValueError, match=r"no format 'gif'; the formats are masks, .* png$"):
        format_names(["csv", "gif"])


def test_the_command_names_formats_that_there_are():
    assert set(format_names(command.FORMATS.split(","))) <= set(FORMATS)


def test_all_that_can_be_read_back_is_looked_for_in_a_folder():
    assert set(READ_FIRST) == {name for name, entry in FORMATS.items() if entry.read}
