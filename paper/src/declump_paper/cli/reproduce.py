"""``declump reproduce``: the paper's experiments on a data set."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Annotated, Literal

import typer

import declump
import declump_paper
from declump._files import check_free, check_links, remove_drafts
from declump._locks import hold_folder
from declump.cli.terminal import count_of, progress_bar, say_when_interrupted, split_words

OWN = ("parts", "priors", "regions", "models")
IMAGES = ".declump-images"


def reproduce(
    dataset: Annotated[
        str,
        typer.Argument(
            help="isbi2014, isbi2015, folder (any layout of 'declump train'), coco, simulated-pap or simulated-he; "
            "with + between them several share the folds, as the paper's two stains do."
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
    judge: Annotated[
        list[Path],
        typer.Option(help="Judges of nuclei with cards, for region models; without, nuclei are found by rules."),
    ] = [],  # noqa: B006
    steps: Annotated[int, typer.Option(min=1, help="Batches of each training with '--regions train'.")] = 2000,
    architecture: Annotated[
        Literal["declump", "paper"],
        typer.Option(help="Region network of '--regions train': declump's own, or the published one."),
    ] = "declump",
    refined: Annotated[
        bool, typer.Option("--refined", help="Clean found regions by a Markov random field, as the paper does.")
    ] = False,
    study: Annotated[
        str | None,
        typer.Option(help="Parameter studies: K, t, E, with commas, or 'all'; 'K:paper' studies one setting alone."),
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Method that Table III tests the others against; by default declump's own.")
    ] = None,
    images: Annotated[int, typer.Option(min=2, help="Number of simulated smears.")] = 20,
    cells: Annotated[int, typer.Option(min=1, help="Cells of a simulated smear.")] = 12,
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

    _check_place(dataset, data)
    opened = declump_paper.research.open_data(dataset, data, count=images, cells=cells, seed=seed)
    kind = _kind(regions)
    has_rays = bool(rays) or kind == "train"
    names = None if methods is None else split_words(methods)
    if names is not None and "rays" in names and not has_rays:
        raise ValueError("the method 'rays' needs --rays, or --regions train")
    chosen = (
        () if names == ["none"] else declump_paper.research.choose_methods(names, rays=has_rays, found=kind != "true")
    )
    studied = declump_paper.research.choose_studies(
        [] if study is None else list(declump_paper.research.STUDIES) if study == "all" else split_words(study)
    )
    if not chosen and not studied:
        raise ValueError("there is nothing to do: give --methods, or --study with '--methods none'")
    if reference is not None and reference not in {method.name for method in chosen}:
        raise ValueError(f"{reference!r} is none of the methods that are run, so that nothing can be tested against it")
    if kind == "train":
        declump.training.check_torch()
    elif architecture != "declump":
        raise ValueError("--architecture tells which network to train; give it with '--regions train'")
    if judge and kind != "models":
        raise ValueError("--judge tells which spots of region models are nuclei; give those models with --regions")
    if refined and judge:
        raise ValueError("--refined and --judge are mutually exclusive: refined regions are read by rules")
    if refined and kind == "true":
        raise ValueError("--refined cleans what a network found, and these regions are the true ones; give --regions")
    _check_folder(out, overwrite, resume)
    with hold_folder(out):
        _clear(out, overwrite)
        scratch = out / IMAGES
        try:
            with progress_bar("images read") as progress:
                stored = declump_paper.research.store_images(opened.images(), scratch, progress)
            plan = _plan(stored, opened.groups(stored.names), kind, regions, rays, judge, folds, way, seed)
            every = (*chosen, *(method for one in studied for method in one.methods))
            run = declump_paper.research.Run(stored, plan, every, out, steps, architecture, refined)
            command = _command(
                dataset, methods, way, folds, regions, rays, judge, steps, architecture, refined, study, reference,
                images, cells, seed,
            )  # fmt: skip
            declump_paper.research.write_record(run, opened, command)
            with say_when_interrupted(_go_on), progress_bar("parts") as progress:
                run.execute(jobs, progress)
            files = declump_paper.research.write_tables(
                run, opened, chosen, studied, reference=reference, command=command
            )
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    typer.echo(
        f"{count_of(len(stored), 'image')}, {count_of(len(every), 'method')}, {count_of(len(plan.folds), 'fold')}"
    )
    for name, path in files.items():
        typer.echo(f"{name:<9} {path}")


def _go_on() -> str:
    return "finished parts are kept; the same command with --resume (and without --overwrite) goes on"


def _check_place(dataset: str, data: Path | None) -> None:
    """Say by its option where the place of the data is missing or one too many."""
    words = dataset.split("+")
    simulated = all(word.startswith("simulated-") for word in words)
    if simulated and data is not None:
        raise ValueError(f"{dataset} is drawn, not read; leave out --data")
    if set(words) <= set(declump_paper.research.NAMES) and not simulated and data is None:
        raise ValueError(f"{dataset} is read from files; tell where they are with --data")


def _kind(regions: list[str]) -> Literal["true", "train", "models"]:
    if len(regions) > 1 and {"true", "train"} & set(regions):
        raise ValueError(f"the regions are true, or trained, or of models; given were {', '.join(regions)} together")
    if regions == ["true"]:
        return "true"
    return "train" if regions == ["train"] else "models"


def _plan(
    stored: declump_paper.research.Images,
    groups: list[int] | None,
    kind: Literal["true", "train", "models"],
    regions: list[str],
    rays: list[Path],
    judges: list[Path],
    folds: int,
    way: Literal["paper", "conventional"],
    seed: int,
) -> declump_paper.research.Plan:
    if kind == "train" and rays:
        raise ValueError("with '--regions train' ray models are trained, too; leave out --rays")
    if kind == "models" or rays:
        models = [Path(model) for model in regions] if kind == "models" else []
        return declump_paper.research.plan_models(stored.names, models, rays, groups, judges=judges)
    return declump_paper.research.plan_folds(
        len(stored), n_folds=folds, way=way, groups=groups, regions="train" if kind == "train" else "true", seed=seed
    )


def _check_folder(out: Path, overwrite: bool, resume: bool) -> None:
    """See that the folder may be written to."""
    holds_run = (out / "run.json").is_file()
    if holds_run and not (overwrite or resume):
        raise FileExistsError(
            f"the folder {out} holds a run already; --resume it, --overwrite it, or give another folder"
        )
    check_free(out, overwrite=holds_run)
    check_links(out, ["run.json", *OWN, IMAGES])


def _clear(out: Path, overwrite: bool) -> None:
    """Clear away what is to be replaced, or was left unfinished."""
    if overwrite:
        for name in OWN:
            shutil.rmtree(out / name, ignore_errors=True)
    remove_drafts(out)
    for draft in out.rglob(".declump-*"):
        draft.unlink(missing_ok=True)


def _command(dataset: str, methods: str | None, way: str, folds: int, regions: list[str], rays: list[Path],
             judges: list[Path], steps: int, architecture: str, refined: bool, study: str | None,
             reference: str | None, images: int, cells: int, seed: int) -> str:  # fmt: skip
    """Give the command without what changes no result."""
    words = ["declump", "reproduce", dataset]
    words += ["--methods", methods] if methods is not None else []
    words += ["--way", way] if way != "paper" else []
    words += ["--folds", str(folds)] if folds != 5 else []
    words += [word for model in regions if regions != ["true"] for word in ("--regions", Path(model).name)]
    words += [word for model in rays for word in ("--rays", model.name)]
    words += [word for model in judges for word in ("--judge", model.name)]
    words += ["--steps", str(steps)] if regions == ["train"] else []
    words += ["--architecture", architecture] if architecture != "declump" else []
    words += ["--refined"] if refined else []
    words += ["--study", study] if study is not None else []
    words += ["--reference", reference] if reference is not None else []
    words += ["--images", str(images), "--cells", str(cells)] if "simulated" in dataset else []
    words += ["--seed", str(seed)] if seed else []
    return shlex.join(words)
