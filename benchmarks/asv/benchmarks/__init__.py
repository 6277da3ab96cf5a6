"""Benchmarks over the history of declump: ``cd benchmarks/asv && asv run``, ``asv compare BEFORE AFTER``.

Simulated smears only, so that any machine can run them. One thread.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "DECLUMP_THREADS"):
    os.environ[variable] = "1"
