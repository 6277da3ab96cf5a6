"""Builds the sdist and the wheel of a release, byte for byte the same wherever and whenever they are built.

    python tools/dist.py              # dist/declump-VERSION.tar.gz and a wheel for this system, Python 3.11 and newer
    python tools/dist.py --check      # builds again in another folder with other rights, and compares

Only committed files go in. Times are those of the commit, owners and rights are the same for all; the wheel is built
from the sdist. The versions of setuptools and Cython are pinned by requirements.lock, that of the compiler is not, and
others give other bytes. Wheels for other systems are built by .github/workflows/wheels.yml.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_SHIPPED = ("benchmarks/models", "docs/pictures", ".venv", "tests/support/__pycache__")
"""Parts of the checkout that neither archive may hold."""
NEEDED = (
    "data/*.onnx",
    "data/*.npz",
    "data/*.jpg",
    "data/pap.txt",
    "help/*",
    "report/page.*",
    "review/page/*.js",
    "py.typed",
    "__init__.pyi",
)
"""Files of the package that are no Python, which both archives have to hold."""


def build(root: Path, target: Path, epoch: int, umask: int = 0o022) -> list[Path]:
    """Build both archives of what is committed.

    Parameters
    ----------
    root : Path
        A checkout.
    target : Path
        Folder for the archives.
    epoch : int
        Time that all files get, in seconds since 1970.
    umask : int
        Rights that new files lose; the archives do not depend on it.
    """
    target.mkdir(parents=True, exist_ok=True)
    before = os.umask(umask)
    try:
        with tempfile.TemporaryDirectory() as work:
            source = Path(work) / "source"
            source.mkdir()
            committed = subprocess.run(["git", "archive", "HEAD"], cwd=root, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(committed)) as archive:
                archive.extractall(source, filter="data")
            _run_backend(source, "build_sdist", Path(work), epoch)
            (made,) = Path(work).glob("*.tar.gz")
            sdist = target / made.name
            _normalise_sdist(made, sdist, epoch)
            with tarfile.open(sdist) as archive:
                archive.extractall(work, filter="data")
            _run_backend(Path(work) / sdist.name.removesuffix(".tar.gz"), "build_wheel", Path(work), epoch)
            (made,) = Path(work).glob("*.whl")
            wheel = target / made.name
            _normalise_wheel(made, wheel)
    finally:
        os.umask(before)
    for path in (sdist, wheel):
        check_content(path)
    return [sdist, wheel]


def _run_backend(source: Path, hook: str, target: Path, epoch: int) -> None:
    code = f"from setuptools import build_meta; build_meta.{hook}({str(target)!r})"
    surroundings = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
    surroundings.pop("PYTHONPATH", None)
    done = subprocess.run([sys.executable, "-c", code], cwd=source, env=surroundings, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def _normalise_sdist(made: Path, target: Path, epoch: int) -> None:
    """Write a tar anew: sorted, without owners, with the same time and rights for all files."""
    with tarfile.open(made) as source:
        members = sorted((member for member in source if member.isfile()), key=lambda member: member.name)
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for member in members:
                entry = tarfile.TarInfo(member.name)
                entry.size, entry.mtime, entry.mode = member.size, epoch, 0o755 if member.mode & 0o100 else 0o644
                archive.addfile(entry, source.extractfile(member))
    with target.open("wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=epoch) as packed:
        packed.write(plain.getvalue())


def _normalise_wheel(made: Path, target: Path) -> None:
    """Write a zip anew: the same rights for all files; order and times are the same already."""
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(target, "w") as archive:
        for entry in source.infolist():
            entry.external_attr, entry.create_system = (0o100644 & 0xFFFF) << 16, 3
            archive.writestr(entry, source.read(entry), compress_type=zipfile.ZIP_DEFLATED)


def names_in(path: Path) -> list[str]:
    """Names of the files of an archive, those of an sdist without its first folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    with tarfile.open(path) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def check_content(path: Path) -> None:
    """Refuse an archive that holds what is not shipped, or that lacks a model, a page or the licence."""
    names = names_in(path)
    found = [name for name in names if name.startswith(NOT_SHIPPED) or name.endswith(".pyc")]
    wanted = [
        file.relative_to(ROOT / "src").as_posix()
        for pattern in NEEDED
        for file in (ROOT / "src" / "declump").glob(pattern)
    ]
    missing = [name for name in wanted if not any(held.endswith(name) for held in names)]
    missing += [] if any(name.endswith("LICENSE") for name in names) else ["LICENSE"]
    kernels = [file.relative_to(ROOT / "src") for file in (ROOT / "src" / "declump").rglob("*.pyx")]
    if path.suffix == ".whl":
        built = {name.partition(".")[0] for name in names if ".abi3." in name}
        missing += [str(file) for file in kernels if file.with_suffix("").as_posix() not in built]
    else:
        missing += [str(file) for file in kernels if not any(name.endswith(file.as_posix()) for name in names)]
    if found or missing:
        sys.exit(f"{path.name} holds {found or 'nothing wrong'} and lacks {missing or 'nothing'}")


def commit_time(root: Path) -> int:
    """Time of the last commit in seconds since 1970."""
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=True)
    return int(told.stdout)


def main() -> None:
    """Build, or build twice and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    epoch = commit_time(ROOT)
    made = build(ROOT, ROOT / "dist", epoch)
    for path in made:
        print(
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT)}  {path.stat().st_size:,} bytes"
        )
    if options.check:
        with tempfile.TemporaryDirectory(prefix="another place ") as folder:
            again = build(ROOT, Path(folder), epoch, umask=0o077)
            other = [one.name for one, two in zip(made, again, strict=True) if one.read_bytes() != two.read_bytes()]
        if other:
            sys.exit(f"another build gave other bytes: {', '.join(other)}")
        print("built twice: the same bytes")


if __name__ == "__main__":
    main()
