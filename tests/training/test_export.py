"""A network is written only where onnxruntime answers as torch does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

pytest.importorskip("torch", reason="training needs the extra 'train'")

import torch

from declump.models import read_card
from declump.training import export as module
from declump.training.export import export


class Sum(torch.nn.Module):
    """Adds up many numbers, in another order than onnxruntime may."""

    constants: ClassVar[Mapping[str, float]] = {"a": 1.0}

    def __init__(self, size: float) -> None:
        super().__init__()
        self.size = size

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        return (self.size * seen.exp() / 3).sum((1, 2))[:, None]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_answers_of_any_size_agree(tmp_path: Path, size: float) -> None:
    path = tmp_path / "sum.onnx"
    export(Sum(size), path, {"b": 2}, shape=(2, 300, 300), free={0: "batch"})
    assert read_card(path) == {"a": 1.0, "b": 2}


def test_a_network_that_answers_otherwise_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGREEMENT", -1e-9)
    with pytest.raises(ValueError, match="nothing was written"):
        export(Sum(1.0), tmp_path / "sum.onnx", {}, shape=(2, 30, 30), free={0: "batch"})
    assert not list(tmp_path.iterdir())
