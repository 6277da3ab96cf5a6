"""What training needs beside the package itself."""

from __future__ import annotations

from importlib.util import find_spec

from declump._installation import how_to_install
from declump.errors import MissingExtraError


def check_torch() -> None:
    """Refuse to go on without torch.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    if find_spec("torch") is None:
        raise MissingExtraError(f"training needs torch: install it by {how_to_install('train')}")


def check_onnx() -> None:
    """Refuse to go on without onnx.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    if find_spec("onnx") is None:
        raise MissingExtraError(f"to write a network in 8 bits needs onnx: install it by {how_to_install('train')}")
