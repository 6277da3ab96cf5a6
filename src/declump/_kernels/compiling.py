"""Kernels compiled at their first call, and kept in a folder where there is one: a cache may help, never hinder.

numba gives up where it may write neither beside the package nor into the user's cache, as in containers and on
clusters, where the disk is full, and where a file of its cache is damaged. Here a kernel then looks for another folder,
is compiled again, or is kept for this process only.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core import caching, config

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel when it is first called; it lets other threads run meanwhile."""
    kernel: Any = njit(nogil=True)(function)
    cache = _find_cache(function)
    if cache is not None:
        kernel._cache = cache
    compiled_kernel: Kernel = kernel
    return compiled_kernel


class _CheckedFile(caching.IndexDataCacheFile):
    """Compiled code with its digest: running code that is damaged ends a process without a word."""

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        super()._save_data(name, (hashlib.sha256(content).digest(), content))

    def _load_data(self, name: str) -> Any:
        digest, content = super()._load_data(name)
        if hashlib.sha256(content).digest() != digest:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(content)


class _KernelCache(caching.FunctionCache):
    """What was compiled of one kernel; files that are damaged are dropped, and what cannot be written is not."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        where = self._impl.locator
        self._cache_file = _CheckedFile(where.get_cache_path(), self._impl.filename_base, where.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file may lead to any error
            try:
                self.flush()
            except OSError:
                self.disable()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)


def cache_folder() -> Path | None:
    """Tell where compiled kernels are kept; None where they are kept for a process only."""
    cache = _find_cache(cache_folder)
    return None if cache is None else Path(cache.cache_path)


def _find_cache(function: Callable[..., Any]) -> _KernelCache | None:
    """Give a cache in a folder of numba's choice, or else in one of our own among temporary files."""
    with suppress(RuntimeError):  # what numba says where it finds no folder
        return _KernelCache(function)
    settings: Any = config  # numba sets its attributes as it is imported
    given = settings.CACHE_DIR
    try:
        settings.CACHE_DIR = str(_own_folder())
        return _KernelCache(function)
    except (OSError, RuntimeError):
        return None
    finally:
        settings.CACHE_DIR = given


def _own_folder() -> Path:
    """Make a folder among temporary files that nobody else can have put code into."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"declump-kernels-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or (os.name == "posix" and (status.st_uid != user or status.st_mode & 0o077)):
        raise PermissionError(f"{folder} is not ours alone")
    return folder
