"""``declump importance`` as a user meets it: a process of its own, its exit code, streams and files."""

from __future__ import annotations

import csv
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import declump
from declump import datasets, simulate
from declump_paper.importance import Importance, learn_importance
from support.waiting import start, wait_until

Ended = tuple[int, str, str]
SMALL = ("--rays", 48, "--no-copies", "--no-reach", "--setting", "paper", "--step", 2, "--cycles", 2, "--tries", 3)
PRINTED = ("importance", "data", *SMALL)
THE_SAME = {"setting": "paper", "step": 2.0, "cycles": 2, "tries": 3, "rays": 48, "copies": False, "reach": False}


@pytest.fixture(autouse=True)
def beside_the_data(monkeypatch: pytest.MonkeyPatch, smears: Path) -> None:
    monkeypatch.chdir(smears)


@pytest.fixture(scope="module")
def smears(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small frames in our own layout."""
    folder = tmp_path_factory.mktemp("smears")
    for number in range(2):
        smear = simulate.smear((200, 200), cells=5, radius=20, overlap=0.4, rng=number)
        simulate.write(smear, folder / "data" / f"frame{number}")
    return folder


@pytest.fixture(scope="module")
def expected(smears: Path) -> Importance:
    return learn_importance(datasets.read(smears / "data"), **THE_SAME)


def check(prior: declump.ShapePrior, expected: Importance, smears: Path) -> None:
    images = datasets.read(smears / "data")
    by_hand = declump.learn_prior(images, rays=48, copies=False, reach=False, **expected.to_weights())
    np.testing.assert_array_equal(prior.mean, by_hand.mean)
    np.testing.assert_array_equal(prior.modes, by_hand.modes)
    assert prior.card["importance"] == expected.card and expected.steps


def test_e_of_an_image_and_no_bound(here: Callable[..., Ended], tmp_path: Path) -> None:
    how = ("--energy-of", "image", "--cycles", 0, "--modes", 0, "--step", 1e-9, "--tries", 1)
    out = tmp_path / "prior.npz"
    code, told, errors = here("importance", "data", *SMALL, *how, "-o", out)
    assert (code, errors) == (0, "") and "nothing improves any more" in told
    card = declump.ShapePrior.load(out).card["importance"]
    assert card["E of"] == "image" and card["cycles at most"] is None


def test_printed(here: Callable[..., Ended], smears: Path, expected: Importance, tmp_path: Path) -> None:
    out, log = tmp_path / "deep" / "prior.npz", tmp_path / "logs" / "raises.csv"
    code, told, errors = here(*PRINTED, "-o", out, "--log", log, "--jobs", 2)
    assert (code, errors) == (0, "")
    assert sorted(path.name for path in out.parent.iterdir()) == ["prior.npz"], "the state is gone in the end"
    check(declump.ShapePrior.load(out), expected, smears)
    with log.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["weight"]) for row in rows] == [step.weight for step in expected.steps]
    assert all(int(row["after"]) < int(row["before"]) for row in rows)
    assert f"{len(rows)} raise" in told and "2 cycles" in told and str(out) in told
    code, _, errors = here(*PRINTED, "-o", tmp_path / "other.npz", "--log", log)
    assert code == 1 and "exists" in errors and not (tmp_path / "other.npz").exists()


def test_interrupted_it_goes_on(here: Callable[..., Ended], smears: Path, expected: Importance, tmp_path: Path) -> None:
    target, state = tmp_path / "prior.npz", tmp_path / "prior-importance.json"
    command = (*PRINTED, "-o", target)
    with start([sys.executable, "-m", "declump.cli", *map(str, command)], cwd=smears) as process:
        wait_until(lambda: process.poll() is not None or state.exists(), "the first state")
        process.send_signal(signal.SIGINT)
    if process.returncode != 0:  # it may have come to its end before the signal reached it
        assert process.returncode == 130 and state.exists() and not target.exists()
        code, _, errors = here(*command, "--seed", 2)
        assert code == 1 and "other options" in errors and errors.count("\n") == 1
        assert here(*command)[0] == 0
    check(declump.ShapePrior.load(target), expected, smears)
    assert not state.exists()


def test_held_out_against_none(here: Callable[..., Ended], tmp_path: Path) -> None:
    plain = ("train", "prior", "data", "--rays", 48, "--no-copies", "--no-reach")
    for command, name in ((plain, "none"), ((*PRINTED, "--method", "held-out"), "held-out")):
        code, _, errors = here(*command, "-o", tmp_path / name)
        assert (code, errors) == (0, "")
    none, held = (declump.ShapePrior.load(tmp_path / name) for name in ("none", "held-out"))
    assert "importance" not in none.card and held.card["importance"]["enters"] == "mean and covariance"
    assert not np.array_equal(none.mean, held.mean)


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--log", "raises.csv", "--method", "held-out"), "--method printed"), (("--step", 0), "step")],
)
def test_what_does_not_go_is_said_in_a_sentence(
    here: Callable[..., Ended], smears: Path, tmp_path: Path, options: tuple, message: str
) -> None:
    out = tmp_path / "deep" / "prior.npz"
    code, told, errors = here("importance", "data", "--rays", 48, *options, "-o", out)
    assert (code, told) == (1, "") and message in errors and errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == [] and not (smears / "raises.csv").exists()
