"""``declump reproduce``: the paper's experiments on a data set."""

from __future__ import annotations

import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from declump.cli.terminal import count_of, progress_bar

if TYPE_CHECKING:
    from declump.research.images import Images
    from declump.research.plan import Plan

OWN = ("parts", "priors", "regions", "models")
IMAGES = ".declump-images"


def reproduce(
    dataset: Annotated[
        str,
        typer.Argument(
            help="isbi2014, isbi2015, folder (any layout of 'declump train'), coco, simulated-pap or simulated-he."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the tables, and for what they are made from.")],
    data: Annotated[
        Path | None, typer.Option(help="Where the data is: its folder or the one above it, or a COCO file.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Names of methods, with commas; by default all that can run. 'none' for studies alone."),
    ] = None,
    way: Annotated[
        Literal["paper", "conventional"], typer.Option(help="Whether one part of the folds teaches, or all but one.")
    ] = "paper",
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    regions: Annotated[
        list[str],
        typer.Option(
            help="'true', 'train' (a network for each fold), or region models with cards; give it several times."
        ),
    ] = ["true"],  # noqa: B006 (typer copies it)
    rays: Annotated[
        list[Path], typer.Option(help="Ray models with cards, for the method 'rays'; give it several times.")
    ] = [],  # noqa: B006
    steps: Annotated[int, typer.Option(min=1, help="Batches of each training with '--regions train'.")] = 2000,
    study: Annotated[str | None, typer.Option(help="Parameter studies: K, t, E, with commas, or 'all'.")] = None,
    reference: Annotated[
        str | None, typer.Option(help="Method that Table III tests the others against; by default declump's own.")
    ] = None,
    images: Annotated[int, typer.Option(min=2, help="Number of simulated smears.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="What folds and simulated smears follow from.")] = 0,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Processes; by default the number of cores.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew in a folder that holds a run.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what a run has made from the same data and settings.")
    ] = False,
) -> None:
    """Run the paper's experiments: all methods by folds, its tables and figures, with its own figures beside."""
    if overwrite and resume:
        raise typer.BadParameter("a run is taken up or begun anew, not both", param_hint="'--overwrite' / '--resume'")

    from declump.research import Run, choose_methods, open_data, store_images
    from declump.research.report import write_all, write_record
    from declump.research.studies import VALUES, studies

    opened = open_data(dataset, data, count=images, seed=seed)
    kind = _kind(regions)
    has_rays = bool(rays) or kind == "train"
    names = None if methods is None else _words(methods)
    chosen = () if names == ["none"] else choose_methods(names, rays=has_rays)
    studied = studies([] if study is None else list(VALUES) if study == "all" else _words(study))
    if not chosen and not studied:
        raise ValueError("there is nothing to do: give --methods, or --study with '--methods none'")
    if reference is not None and reference not in {method.name for method in chosen}:
        raise ValueError(f"{reference!r} is none of the methods that are run, so that nothing can be tested against it")
    if kind == "train" and find_spec("torch") is None:
        raise ValueError("training needs torch: install declump with the extra 'train' (declump[train])")
    _prepare(out, overwrite, resume)
    scratch = out / IMAGES
    try:
        with progress_bar("images read") as progress:
            stored = store_images(opened.images(), scratch, progress)
        plan = _plan(stored, opened.groups(stored.names), kind, regions, rays, folds, way, seed)
        every = (*chosen, *(method for one in studied for method in one.methods))
        run = Run(stored, plan, every, out, steps)
        command = _command(dataset, methods, way, folds, regions, rays, steps, study, reference, images, seed)
        write_record(run, opened, command)
        with progress_bar("parts") as progress:
            run.execute(jobs, progress)
        files = write_all(run, opened, chosen, studied, reference=reference, command=command)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    typer.echo(
        f"{count_of(len(stored), 'image')}, {count_of(len(every), 'method')}, {count_of(len(plan.folds), 'fold')}"
    )
    for name, path in files.items():
        typer.echo(f"{name:<9} {path}")


def _kind(regions: list[str]) -> Literal["true", "train", "models"]:
    if len(regions) > 1 and {"true", "train"} & set(regions):
        raise ValueError(f"the regions are true, or trained, or of models; given were {', '.join(regions)} together")
    if regions == ["true"]:
        return "true"
    return "train" if regions == ["train"] else "models"


def _plan(
    stored: Images,
    groups: list[int] | None,
    kind: Literal["true", "train", "models"],
    regions: list[str],
    rays: list[Path],
    folds: int,
    way: Literal["paper", "conventional"],
    seed: int,
) -> Plan:
    from declump.research import plan_folds, plan_models

    if kind == "train" and rays:
        raise ValueError("with '--regions train' ray models are trained, too; leave out --rays")
    if kind == "models" or rays:
        models = [Path(model) for model in regions] if kind == "models" else []
        return plan_models(stored.names, models, rays, groups)
    return plan_folds(
        len(stored), n_folds=folds, way=way, groups=groups, regions="train" if kind == "train" else "true", seed=seed
    )


def _prepare(out: Path, overwrite: bool, resume: bool) -> None:
    """See that the folder may be written to, and clear away what is to be replaced or was left unfinished."""
    from declump._files import check_free, remove_drafts

    holds_run = (out / "run.json").is_file()
    if holds_run and not (overwrite or resume):
        raise FileExistsError(
            f"the folder {out} holds a run already; --resume it, --overwrite it, or give another folder"
        )
    check_free(out, overwrite=holds_run)
    if overwrite:
        for name in OWN:
            shutil.rmtree(out / name, ignore_errors=True)
    remove_drafts(out)
    for draft in out.rglob(".declump-*"):
        draft.unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _command(dataset: str, methods: str | None, way: str, folds: int, regions: list[str], rays: list[Path],
             steps: int, study: str | None, reference: str | None, images: int, seed: int) -> str:  # fmt: skip
    """Give the command without what changes no result."""
    words = ["declump", "reproduce", dataset]
    words += ["--methods", methods] if methods is not None else []
    words += ["--way", way] if way != "paper" else []
    words += ["--folds", str(folds)] if folds != 5 else []
    words += [word for model in regions if regions != ["true"] for word in ("--regions", Path(model).name)]
    words += [word for model in rays for word in ("--rays", model.name)]
    words += ["--steps", str(steps)] if regions == ["train"] else []
    words += ["--study", study] if study is not None else []
    words += ["--reference", reference] if reference is not None else []
    words += ["--images", str(images)] if dataset.startswith("simulated") else []
    words += ["--seed", str(seed)] if seed else []
    return shlex.join(words)
