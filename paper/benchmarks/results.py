"""The paper's experiments on both public data sets and on simulated smears, put into paper/docs/results/.

    python paper/benchmarks/results.py --data ../shared/data

Runs ``declump reproduce`` with true regions (core alone, the paper's five folds, its parameter studies on its data),
with true regions and ray proposals, and end to end; the latter two with the fold models of benchmarks/models on images
these did not see; and with folds over two stains together. Each run has its own part of the page, with the commit it
was begun at: ``--only`` makes some of them anew. What is done already for the same commit is kept, so that an
interrupted run goes on. It takes some hours on two cores, most of them for the importance of examples and for MCL.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from pages import ROOT, commit, replace_part

MODELS = ROOT / "benchmarks" / "models"
RAYS = [word for fold in "ab" for word in ("--rays", str(MODELS / f"rays-{fold}.onnx"))]
JUDGED = [word for fold in "ab" for word in ("--judge", str(MODELS / f"judge-{fold}.onnx"))]
FOUND = [word for fold in "ab" for word in ("--regions", str(MODELS / f"regions-{fold}.onnx"))] + RAYS + JUDGED
SEEING = ("--methods", "joint,rays,lsf,mcl,mpw,cf,star")
"""Methods that look at the image, beside shapes alone."""


@dataclass(frozen=True)
class Case:
    """One run: its folder, its title in the page, and the arguments of the command."""

    name: str
    title: str
    arguments: tuple[str, ...]
    data: bool = True


EQUAL = ("--methods", "joint,rays,L,lsf,mpw,cf,star,joint+,rays+,lsf+,mpw+,cf+,star+")
"""Methods end to end: all on the same found nuclei, then all on the same completed ones."""
CASES = (
    Case("isbi2015-true", "ISBI 2015, true regions", ("isbi2015", "--study", "all")),
    Case(
        "isbi2015-he",
        "ISBI 2015 and simulated H&E smears, common folds, true regions",
        ("isbi2015+simulated-he", "--images", "21", "--cells", "38", "--methods", "joint,L,mpw,cf"),
    ),
    Case(
        "isbi2015-isbi2014",
        "ISBI 2015 and ISBI 2014, common folds, true regions",
        ("isbi2015+isbi2014", "--methods", "L"),
    ),
    Case("isbi2014-true", "ISBI 2014, true regions", ("isbi2014",)),
    Case("isbi2015-rays", "ISBI 2015, true regions, rays on unseen images", ("isbi2015", *RAYS, *SEEING)),
    Case("isbi2014-rays", "ISBI 2014, true regions, rays on unseen images", ("isbi2014", *RAYS, *SEEING)),
    Case("isbi2015-end-to-end", "ISBI 2015, end to end", ("isbi2015", *FOUND, *EQUAL)),
    Case(
        "isbi2014-end-to-end",
        "ISBI 2014, end to end",
        ("isbi2014", *FOUND, "--methods", "rays,L,mpw,cf,rays+,mpw+,cf+"),
    ),
    Case("simulated-he", "Simulated smears, H&E, true regions", ("simulated-he",), data=False),
)


def reproduce(case: Case, out: Path, data: Path, jobs: int | None) -> Path:
    """Run a case, or go on with it; give its folder."""
    folder = out / case.name
    words = [sys.executable, "-m", "declump.cli", "reproduce", *case.arguments, "-o", str(folder)]
    words += ["--data", str(data)] if case.data else []
    words += ["--jobs", str(jobs)] if jobs else []
    words += ["--resume"] if (folder / "run.json").exists() else []
    print(f"{case.title}: {folder}", flush=True)
    if not _begun(folder).exists():
        out.mkdir(parents=True, exist_ok=True)
        _begun(folder).write_text(commit())
    subprocess.run(words, check=True)
    return folder


def _begun(folder: Path) -> Path:
    """File beside the folder of a run: the commit that it was begun at."""
    return folder.with_suffix(".commit")


def section(case: Case, folder: Path) -> str:
    """Text of a run for the page: headings lower, plots for the study tables, no pictures of the data."""
    text = (folder / "results.md").read_text().split("## Visual comparison")[0]
    text = re.sub(r"^# .*$", f"### {case.title}", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^## ", "#### ", text, flags=re.MULTILINE)
    text = re.sub(r"^- version: .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^- command: (.*)$", r"- command: `\1`", text, flags=re.MULTILINE)
    for plot in sorted(folder.glob("study-*.svg")):
        shutil.copyfile(plot, ROOT / "paper" / "docs" / "pictures" / f"{case.name}-{plot.name}")
    pattern = r"^#### Study of .*$"
    names = iter([path.name.removesuffix("-accuracy.svg") for path in _in_order(folder)])

    def with_plots(found: re.Match[str]) -> str:
        name = next(names)
        shown = [f"![{kind}](../pictures/{case.name}-{name}-{kind}.svg)" for kind in ("accuracy", "time")]
        return f"{found.group()}\n\n{' '.join(shown)}"

    return re.sub(pattern, with_plots, text, flags=re.MULTILINE).strip()


def _in_order(folder: Path) -> list[Path]:
    """Plots in the order of their tables."""
    return [path for name in ("K", "t", "E") if (path := folder / f"study-{name}-accuracy.svg").exists()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--out", type=Path, help="folder for the runs; by default build/reproduce/COMMIT")
    parser.add_argument("--only", default="", help="only runs with this in their name")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--written", action="store_true", help="run nothing: put what the folders hold into the page")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"there is no folder {options.data}: give the one that holds isbi2014 and isbi2015 with --data")
    out = options.out or ROOT / "build" / "reproduce" / commit()
    chosen = [case for case in CASES if options.only in case.name]
    if options.written:
        chosen = [case for case in chosen if (out / case.name / "results.md").is_file()]
    folders = [
        out / case.name if options.written else reproduce(case, out, options.data, options.jobs) for case in chosen
    ]
    for case, folder in zip(chosen, folders, strict=True):
        begun = _begun(folder).read_text()
        heading, _, rest = section(case, folder).partition("\n")
        origin = f"Measured at commit {begun}, put here by `python paper/benchmarks/results.py --only {case.name}`."
        replace_part("paper/docs/results.md", f"reproduce {case.name}", f"{heading}\n\n{origin}\n{rest}")
        if case.name == "simulated-he":
            shutil.copyfile(folder / "comparison.png", ROOT / "paper" / "docs" / "pictures" / "comparison.png")


if __name__ == "__main__":
    main()
