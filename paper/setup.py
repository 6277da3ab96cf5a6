"""Builds the kernels of the paper's package as those of the tool beside it; see ``../setup.py``."""

import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

CHECKED = bool(os.environ.get("DECLUMP_CHECKED"))
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=cythonize(
        [
            Extension(
                ".".join(source.with_suffix("").parts[1:]),
                [str(source)],
                py_limited_api=ABI3,
                define_macros=[("Py_LIMITED_API", "0x030B0000")] if ABI3 else [],
                extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-g0"],
            )
            for source in sorted(Path("src").rglob("*.pyx"))
        ],
        build_dir="build/checked" if CHECKED else "build/c",
        include_path=["../src"],
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    ),
)
