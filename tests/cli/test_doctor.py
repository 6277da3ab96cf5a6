from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import declump
from declump.cli import doctor


def test_everything_is_told_and_works(here: Callable[..., tuple[int, str, str]]) -> None:
    code, out, error = here("doctor")
    assert (code, error) == (0, "")
    for word in (declump.__version__, "numpy", "onnxruntime", "rays.onnx", "regions.onnx", "cores", "processor"):
        assert word in out
    models = out.partition("models\n")[2]
    assert " 0 kB" not in models and "learnt from " in models
    assert out.partition("self-test")[2].count("\n") == 1 + len(doctor.CHECKS) and "FAILED" not in out


def test_json_holds_the_same_and_a_failure_is_an_exit_code(
    here: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> str:
        raise ValueError("the files are other ones")

    monkeypatch.setattr(doctor, "CHECKS", {"files": broken})
    code, out, error = here("doctor", "--json")
    told = json.loads(out)
    assert code == 1 and "failed at: files" in error and error.count("\n") == 1
    assert told["self-test"][0]["result"] == "FAILED: the files are other ones" and not told["self-test"][0]["passed"]
    assert told["installation"]["declump"] == declump.__version__ and "numpy" in told["packages"]


def test_a_low_figure_fails_the_self_test() -> None:
    with pytest.raises(ValueError, match=r"0\.500, less than 0\.75"):
        doctor._good("Dice", 0.5, 0.75)
    with pytest.raises(ValueError, match="nan"):
        doctor._good("Dice", float("nan"), 0.75)


def test_a_missing_package_comes_with_the_command_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["numpy>=2", 'no-such-package[all]>=1; extra == "tables"', 'pytest>=8; extra == "test"', "gone-package"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: lines)
    told = dict(doctor._packages())
    assert "[tables]" in str(told["no-such-package"]) and told["gone-package"] == "MISSING" and "pytest" not in told


def test_a_package_of_two_extras_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "numpy>=2",
        'numpy>=2; extra == "tables"',
        'no-such>=1; extra == "tables"',
        'no-such>=1; extra == "slides"',
    ]
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: lines)
    assert [name for name, _ in doctor._packages()] == ["numpy", "no-such"]
