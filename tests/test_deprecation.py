"""Names that go warn, work, and are gone in time."""

from __future__ import annotations

import warnings
from importlib import import_module
from pkgutil import walk_packages

import pytest

import declump
from declump import _deprecation
from declump._deprecation import deprecated, removal_release, renamed_argument


@pytest.fixture(autouse=True)
def no_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_deprecation, "REMOVALS", dict(_deprecation.REMOVALS))


def test_a_deprecated_function_works_and_warns_at_its_caller() -> None:
    @deprecated("declump.evolve", since="0.3.1")
    def grow(size: int) -> int:
        """Grow."""
        return size + 1

    with pytest.warns(
        DeprecationWarning, match=r"deprecated since declump 0\.3\.1 and goes in 0\.5\.0: use declump\.evolve"
    ) as told:
        assert grow(1) == 2
    assert told[0].filename == __file__ and grow.__doc__ == "Grow."


def test_a_renamed_argument_works_by_both_names_but_not_at_once() -> None:
    @renamed_argument("doubt", "deviation", since="1.0.0")
    def see(*, deviation: float = 0) -> float:
        return deviation

    with pytest.warns(DeprecationWarning, match=r"goes in 1\.2\.0: use deviation="):
        assert see(doubt=2) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert see(deviation=3) == 3
    with pytest.raises(TypeError, match="both 'doubt'"):
        see(doubt=1, deviation=2)


def test_a_name_stays_for_two_minor_releases() -> None:
    assert removal_release("0.9.4") == "0.11.0"


def test_nothing_stays_longer_than_announced() -> None:
    for module in walk_packages(declump.__path__, "declump."):
        needs_extra = module.name.startswith(("declump.training", "declump.review.server", "declump.bridges"))
        if not needs_extra and "__main__" not in module.name:
            import_module(module.name)
    here = tuple(int(part) for part in declump.__version__.split(".")[:2])
    late = {
        name: release
        for name, release in _deprecation.REMOVALS.items()
        if tuple(int(part) for part in release.split(".")[:2]) <= here
    }
    assert late == {}
