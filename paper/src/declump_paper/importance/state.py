"""Where a learning stands, as a JSON file, so that an interrupted one goes on to the same end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import write_atomically
from declump.records.clump import Clump
from declump.training.prior import AnnotatedClump
from declump_paper.importance.learnt import Step


@dataclass
class LearningState:
    """What the learning has come to between two clumps.

    Attributes
    ----------
    weights : (N,) float64
    cycle : int
        From 0.
    clumps : int
        Number of clumps that this cycle is done with.
    failed : set of int
        Examples whose raise brought nothing with these very weights.
    steps : list of Step
    """

    weights: NDArray[np.float64]
    cycle: int = 0
    clumps: int = 0
    failed: set[int] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)

    def save(self, path: Path, origin: str) -> None:
        """Write the state whole, with the fingerprint of what it is about."""
        record = {
            "origin": origin,
            "weights": self.weights.tolist(),
            "cycle": self.cycle,
            "clumps": self.clumps,
            "failed": sorted(self.failed),
            "steps": [asdict(step) for step in self.steps],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(record))

    @classmethod
    def load(cls, path: Path, origin: str) -> LearningState:
        """Read a state, or say why it does not serve."""
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            fits = record["origin"] == origin
            weights = np.array(record["weights"], dtype=np.float64)
            steps = [Step(**step) for step in record["steps"]]
            state = cls(weights, int(record["cycle"]), int(record["clumps"]), set(record["failed"]), steps)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{path} is not the state of a learning of importance ({error}); remove it") from error
        if not fits:
            raise ValueError(f"{path} is the state of a learning from other images or with other options; remove it")
        return state


def fingerprint(clumps: Iterable[AnnotatedClump], options: Mapping[str, Any], found: Iterable[Clump] = ()) -> str:
    """Tell learnings apart by their clumps, examples and options, and by the found clumps that are explained."""
    digest = hashlib.sha256(json.dumps(dict(options), sort_keys=True).encode())
    parts = [part for known in clumps for part in (known.clump.mask, known.clump.seeds, known.whole, known.radii)]
    parts += [part for clump in found for part in (clump.mask, clump.seeds)]
    for part in parts:
        digest.update(f"{part.dtype} {part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
