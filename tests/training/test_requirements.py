from __future__ import annotations

import pytest

from declump.training import requirements


def test_training_without_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"training needs torch: install it by pip install .*\[train\]"):
        requirements.check_torch()
