"""What was found in an image before anybody corrected it, as a file beside its results."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file
from declump.errors import BROKEN, reason_of
from declump.records.evidence import Evidence
from declump.records.regions import FrozenRecord, Regions
from declump.records.segmentation import ClumpRecord, Segmentation

FILE = "found.npz"
_FORMAT, _VERSION = "declump found", 1
_OF_REGIONS = ("clump", "nuclei", "layers", "layers_std", "candidates", "nucleus_probability", "candidate_probability")


@dataclass(frozen=True, eq=False)
class Found:
    """Frozen regions as they were found, the cells in them, and what both follow from.

    Attributes
    ----------
    regions : Regions
    result : Segmentation
        Outlines; nuclei are those of the regions.
    origin : dict
        Digests of the image and the models, and the options.
    """

    regions: Regions
    result: Segmentation
    origin: dict[str, Any]


def write_found(found: Found, path: Path) -> None:
    """Write the file, whole or not at all; the same content gives the same bytes."""
    frozen, result = found.regions.frozen, found.result
    if frozen is None:
        raise ValueError("these regions are not frozen: give those of declump.freeze")
    arrays: dict[str, NDArray[Any]] = {
        name: array for name in _OF_REGIONS if (array := getattr(frozen.found, name)) is not None
    }
    if frozen.evidence is not None and frozen.evidence.radii is not None and frozen.evidence.radii_std is not None:
        arrays["proposed"], arrays["proposed_std"] = frozen.evidence.radii, frozen.evidence.radii_std
    arrays |= {"bare_seeds": frozen.bare_seeds, "seeds": result.seeds, "radii": result.radii, "owner": result.clump}
    facts = {
        "format": _FORMAT,
        "version": _VERSION,
        "origin": found.origin,
        "diameter": frozen.found.diameter,
        "scale": frozen.scale,
        "nucleus_area": frozen.nucleus_area,
        "clumps": [[record.size, list(record.history), record.stopped] for record in result.clumps],
    }
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    with atomic_file(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_found(path: Path) -> Found:
    """Read the file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is damaged, or of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays: dict[str, Any] = {name: file[name] for name in file.files}
        facts = json.loads(arrays["facts"].tobytes())
        if (facts["format"], facts["version"]) != (_FORMAT, _VERSION):
            raise ValueError("it is of another version")
        of_regions: dict[str, Any] = {name: arrays.get(name) for name in _OF_REGIONS}
        plain = Regions(**of_regions, diameter=facts["diameter"])
        proposed = Evidence(arrays["proposed"], arrays["proposed_std"]) if "proposed" in arrays else None
        count = 0 if plain.candidates is None else int(plain.candidates.max(initial=0))
        frozen = FrozenRecord(
            plain, proposed, facts["scale"], facts["nucleus_area"], arrays["bare_seeds"], kinds=("",) * count
        )
        regions = replace(plain, frozen=frozen)
        records = tuple(ClumpRecord(size, tuple(history), stopped) for size, history, stopped in facts["clumps"])
        shape = (plain.clump.shape[0], plain.clump.shape[1])
        result = Segmentation(shape, arrays["seeds"], arrays["radii"], arrays["owner"], records)
        return Found(regions, result, facts["origin"])
    except FileNotFoundError:
        raise
    except (OSError, *BROKEN) as error:
        raise ValueError(f"{path} is damaged ({reason_of(error)}); remove it, and it is made anew") from error
