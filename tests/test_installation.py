from __future__ import annotations

from importlib import metadata
from types import SimpleNamespace

import pytest

from declump._installation import how_to_install


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (None, 'pip install "declump[train]"'),
        ('{"url": "https://host/declump.whl", "archive_info": {}}', 'pip install "declump[train]"'),
        ('{"url": "file:///home/my%20code", "dir_info": {}}', 'pip install "/home/my code[train]"'),
        ('{"url": "file:///code", "dir_info": {"editable": true}}', 'pip install -e "/code[train]"'),
    ],
)
def test_a_hint_names_the_way_declump_was_installed(
    record: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda _name: SimpleNamespace(read_text=lambda _file: record))
    assert how_to_install("train") == expected
