from __future__ import annotations

import subprocess
import sys

import pytest

import declump
from support.waiting import LIMIT


def test_importing_declump_imports_nothing_slow():
    code = "import sys, declump; print(*(name for name in ('scipy', 'skimage') if name in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert result.stdout.strip() == ""
    assert result.stderr == ""


def test_importing_training_does_not_load_torch():
    code = "import sys, declump; declump.training.learn_prior; print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


@pytest.mark.parametrize("name", declump.__all__)
def test_every_public_name_resolves(name):
    assert getattr(declump, name) is not None
    assert name in dir(declump)


def test_public_names_resolve_in_a_fresh_interpreter():
    code = "from declump import *; print(evolve.__name__, ShapePrior.__name__, simulate.__name__)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert result.stdout.split() == ["evolve", "ShapePrior", "declump.simulate"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        declump.no_such_name  # noqa: B018
