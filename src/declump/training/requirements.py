"""What training needs beside the package itself."""

from __future__ import annotations

from importlib.util import find_spec


def check_torch() -> None:
    """Refuse to go on without torch.

    Raises
    ------
    ValueError
        If it is not installed.
    """
    if find_spec("torch") is None:
        raise ValueError("training needs torch: install declump with the extra 'train' (declump[train])")
