"""Long trials in parts: what was counted is kept in a file, and the same command goes on from there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from declump._files import write_atomically
from pages import commit


@dataclass
class Tally:
    """What a trial counts, with the time it took and the commits that were tried."""

    minutes: float = 0.0
    commits: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path | None) -> Self:
        """Take up what earlier parts have counted."""
        if path is None or not path.exists():
            return cls()
        kept = json.loads(path.read_text())
        return cls(**{name: Counter(value) if isinstance(value, dict) else value for name, value in kept.items()})

    def keep(self, path: Path | None) -> None:
        """Put away what was counted."""
        self.commits += [commit()] if commit() not in self.commits else []
        if path is not None:
            write_atomically(path, json.dumps(vars(self), indent=1))
