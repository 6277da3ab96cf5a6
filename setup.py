"""Builds the kernels; everything else stands in pyproject.toml.

``DECLUMP_CHECKED=1`` builds kernels that check every index, for the tests (``make test-checked``).
"""

import os
import shutil
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

CHECKED = bool(os.environ.get("DECLUMP_CHECKED"))
# One binary for Python 3.11 and newer; those without a GIL have no stable interface.
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")
# Without contraction, as a fused multiply-add rounds once where two steps round twice: other processors, other bytes.
FLAGS = {"unix": ["-O3", "-ffp-contract=off", "-g0"], "msvc": ["/O2", "/fp:precise"]}


class BuildKernels(build_ext):
    """Says in a sentence what is missing where C cannot be compiled."""

    def build_extensions(self):
        """Compile with flags that keep the bytes of results."""
        kind = self.compiler.compiler_type
        headers = Path(sysconfig.get_path("include")) / "Python.h"
        lacking = [] if headers.exists() else [f"the headers of Python ({headers})"]
        if kind == "unix" and not shutil.which(self.compiler.compiler_so[0]):
            lacking.insert(0, f"a C compiler ({self.compiler.compiler_so[0]})")
        if lacking:
            raise SystemExit(
                f"declump is built from source with a C compiler and the headers of Python; {' and '.join(lacking)} "
                "not found (Debian and Ubuntu: apt install gcc python3-dev)."
            )
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS.get(kind, [])
        super().build_extensions()


setup(
    ext_modules=cythonize(
        [
            Extension(
                ".".join(source.with_suffix("").parts[1:]),
                [str(source)],
                py_limited_api=ABI3,
                define_macros=[("Py_LIMITED_API", "0x030B0000")] if ABI3 else [],
            )
            for source in sorted(Path("src/declump/_kernels").glob("*.pyx"))
        ],
        build_dir="build/checked" if CHECKED else "build/c",
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "embedsignature": True,
        },
    ),
    cmdclass={"build_ext": BuildKernels},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {},
)
