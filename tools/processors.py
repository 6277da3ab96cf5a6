"""Run the small numeric part of the golden outputs on other processors, under qemu-user (Debian: qemu-user).

PYTHONPATH=tests python tools/processors.py [--models Haswell,Nehalem]

Each call runs in a process of its own, as NumPy's sorts crashed there in longer ones.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys

from support.golden_outputs import STORE, discs, pictures
from support.observations import Observation, differences

MODELS = {"Haswell": "Haswell", "Nehalem": "Nehalem"}
"""Models of qemu, and the kernels of OpenBLAS for them."""


def call(name: str) -> dict[str, object]:
    """Return what is observed of one call."""
    import declump

    value = declump.evolve(*discs()) if name == "evolve" else declump.segment(pictures()["grey"])
    return Observation.of(value).record()


STORED = {"evolve": ("evolve", "default"), "segment": ("segment", "grey")}


def main() -> None:
    """Run every call on every model and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--call", choices=STORED, help="print what is observed of one call, here and now")
    given = parser.parse_args()
    if given.call:
        print(json.dumps(call(given.call)))
        return
    if not shutil.which("qemu-x86_64"):
        sys.exit("qemu-x86_64 is not installed (Debian: qemu-user)")
    stored = json.loads(STORE.read_text(encoding="utf-8"))["outputs"]
    failed = False
    for model in given.models.split(","):
        surroundings = {
            **os.environ,
            "OPENBLAS_CORETYPE": MODELS[model],
            "OMP_NUM_THREADS": "1",
        }
        for name, (producer, output) in STORED.items():
            words = ["qemu-x86_64", "-cpu", model, sys.executable, __file__, "--call", name]
            ended = subprocess.run(words, env=surroundings, capture_output=True, text=True, check=False)
            if ended.returncode:
                said = [f"exit code {ended.returncode}: {ended.stderr[-300:]}"]
            else:
                said = differences(json.loads(ended.stdout), stored[producer][output])
            failed |= bool(said)
            print(f"{model} {name}: {'; '.join(said) or 'as stored'}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
