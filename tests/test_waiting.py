"""The waits that other tests rely on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.waiting import start, wait_until

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_what_the_condition_gives_is_given() -> None:
    answers = iter([None, [], "there"])
    assert wait_until(lambda: next(answers), "something") == "there"


def test_a_wait_in_vain_says_what_for() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"waited 0.05 seconds in vain for this: the end of the world"):
        wait_until(lambda: False, "the end of the world", limit=0.05)


def test_nothing_is_awaited_of_a_process_that_has_ended() -> None:
    with (
        pytest.raises(pytest.fail.Exception, match="has ended before: a word"),
        start([sys.executable, "-c", ""]) as process,
    ):
        wait_until(lambda: False, "a word", process=process)


def test_where_a_test_fails_its_process_is_killed() -> None:
    running: list[subprocess.Popen[str]] = []

    def fail() -> None:
        with start(SLEEPER) as process:
            running.append(process)
            raise ValueError("a test that fails")

    with pytest.raises(ValueError, match="a test that fails"):
        fail()
    assert running[0].returncode == -9
    with pytest.raises(ProcessLookupError):
        os.killpg(running[0].pid, 0)
