"""``declump train``: models from annotated images."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from declump.cli import importance as weighing
from declump.cli.terminal import progress_bar

LAYOUTS = "Data in the ISBI 2014 or 2015 layout, COCO, masks of objects, or label images."
Folders = Annotated[list[Path], typer.Argument(metavar="FOLDER", help=LAYOUTS, show_default=False)]
Data = Annotated[
    list[Path],
    typer.Option("--data", metavar="FOLDER", help="The same by name; give it several times.", show_default=False),
]
HeldOut = Annotated[
    list[str], typer.Option(help="Name of an image that teaches nothing and is measured on; give it several times.")
]
Start = Annotated[Path | None, typer.Option(help="Checkpoint (...-training.zip) of an earlier training to begin with.")]

app = typer.Typer(help="Learn from annotated images.", no_args_is_help=True)


@app.command()
def prior(
    folders: Folders = [],  # noqa: B006 (typer copies it)
    data: Data = [],  # noqa: B006
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the prior, .npz.")],
    rays: Annotated[int, typer.Option(min=16, help="Radii of an outline.")] = 360,
    modes: Annotated[
        int | None, typer.Option(min=0, help="Modes of variation; by default those with 99.5 % of the variance.")
    ] = None,
    no_copies: Annotated[bool, typer.Option("--no-copies", help="Add no turned and mirrored copies.")] = False,
    no_reach: Annotated[bool, typer.Option("--no-reach", help="Learn shapes only, as the paper does.")] = False,
    nuclei: Annotated[
        bool, typer.Option("--nuclei", help="Learn the shapes of the nuclei instead of the cells.")
    ] = False,
    importance: weighing.Method = "none",
    setting: weighing.Setting = "joint",
    step: weighing.StepSize = 1.0,
    tries: weighing.Tries = 10,
    cycles: weighing.Cycles = 2,
    seed: weighing.Seed = 0,
    jobs: weighing.Jobs = None,
    log: weighing.Log = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Learn what shapes to expect from images with whole masks. Interrupted, the same command goes on."""
    _check_free(out, overwrite)
    if log is not None:
        _check_free(log, overwrite)
        if importance != "printed":
            raise ValueError("--log writes what --importance printed does; give both or none")

    from declump import datasets, learn_prior
    from declump.datasets import AnnotatedImage

    folders = _given(folders, data)

    def images() -> Iterator[AnnotatedImage]:
        readers = [datasets.read(folder) for folder in folders]  # complain of every folder before reading any image
        found = chain.from_iterable(readers)
        return map(datasets.objects.nuclei_of, found) if nuclei else found

    shapes: dict[str, Any] = {"rays": rays, "modes": modes, "copies": not no_copies}
    how = {"setting": setting, "step": step, "tries": tries, "cycles": cycles, "rng": seed, "reach": not no_reach}
    state = out.with_name(f"{out.stem}-importance.json")
    weights = weighing.learn_weights(images(), importance, state, jobs, shapes, how)
    card = {"data": [folder.resolve().name for folder in folders], "command": shlex.join(["declump", *sys.argv[1:]])}
    seen = 0

    with progress_bar("images") as progress:

        def count(_name: str) -> None:
            nonlocal seen
            seen += 1
            progress(seen, None)

        learnt = learn_prior(images(), reach=not no_reach, importance=weights, card=card, progress=count, **shapes)
    out.parent.mkdir(parents=True, exist_ok=True)
    learnt.save(out)
    if log is not None and weights is not None:
        weighing.write_log(weights, log)
    state.unlink(missing_ok=True)
    typer.echo(
        f"{learnt.card['whole cells']} whole cells of {learnt.card['cells']} in {seen} images: mean radius "
        f"{learnt.mean.mean():.1f} px, {learnt.variances.size} modes{', reach learnt' if learnt.reach else ''}"
    )
    typer.echo(f"prior     {out}")


@app.command()
def regions(
    folders: Folders = [],  # noqa: B006 (typer copies it)
    data: Data = [],  # noqa: B006
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the model, .onnx.")],
    held_out: HeldOut = [],  # noqa: B006
    simulated: Annotated[int, typer.Option(min=0, help="Number of simulated smears to learn from as well.")] = 48,
    steps: Annotated[int, typer.Option(min=1, help="Number of batches.")] = 6000,
    size: Annotated[int, typer.Option(min=1, help="Windows a batch.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="What all randomness follows from.")] = 0,
    start: Start = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Train the network that finds clumps and nuclei. Interrupted, the same command goes on where it stopped."""
    folders = _given(folders, data)
    _check_free(out, overwrite)
    torch_version = _torch_version()

    from declump import datasets
    from declump.training.export import export
    from declump.training.regions.loop import train
    from declump.training.regions.network import FREE_AXES, TRIED
    from declump.training.regions.targets import make_example, simulate_examples

    groups, measured = [], []
    for folder in folders:
        annotated = list(datasets.read(folder))
        groups.append([make_example(image) for image in annotated if image.name not in held_out])
        measured += [make_example(image) for image in annotated if image.name in held_out]
    _check_held_out(held_out, len(measured))
    groups += [simulate_examples(simulated, seed)] if simulated else []
    network, curve = _trained(train, groups, measured, out, steps=steps, size=size, seed=seed, start=start)
    card = _card(folders, held_out, simulated, steps, size, seed, start, torch_version, curve)
    export(network, out, card, shape=TRIED, free=FREE_AXES)
    typer.echo(f"model     {out}")


@app.command()
def rays(
    folders: Folders = [],  # noqa: B006
    data: Data = [],  # noqa: B006
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the model, .onnx.")],
    regions: Annotated[
        list[str],
        typer.Option(
            help="Region model to find regions with; of several, the first that did not see an image serves it."
        ),
    ] = ["default"],  # noqa: B006
    held_out: HeldOut = [],  # noqa: B006
    simulated: Annotated[int, typer.Option(min=0, help="Number of simulated smears to learn from as well.")] = 150,
    steps: Annotated[int, typer.Option(min=1, help="Number of batches.")] = 6000,
    size: Annotated[int, typer.Option(min=1, help="Cells a batch.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="What all randomness follows from.")] = 0,
    start: Start = None,
    calibration: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="FACTOR POWER",
            help="The doubt is FACTOR times the network's to the POWER; by default as the images held out ask for.",
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
) -> None:
    """Train the network that proposes whole outlines. Interrupted, the same command goes on where it stopped."""
    folders = _given(folders, data)
    _check_free(out, overwrite)
    torch_version = _torch_version()

    from declump import datasets
    from declump.models import model_path, read_card
    from declump.regions.find import find_regions
    from declump.training.export import export
    from declump.training.rays.examples import make_example, simulate_examples
    from declump.training.rays.loop import train
    from declump.training.rays.network import FREE_AXES, TRIED, Proposer

    models = [model_path(model, "regions.onnx") for model in regions]
    unseen = [set(read_card(model).get("held out", [])) for model in models]
    groups, measured = [], []
    for folder in folders:
        group = []
        for image in datasets.read(folder):
            if image.name in held_out:
                measured.append(make_example(image))
                continue
            fair = next((model for model, names in zip(models, unseen, strict=True) if image.name in names), models[0])
            group.append(make_example(image, [find_regions(image.image, model=fair)]))
        groups.append(group)
    _check_held_out(held_out, len(measured))
    groups += [simulate_examples(simulated, seed, models[0])] if simulated else []
    network, curve = _trained(train, groups, measured, out, steps=steps, size=size, seed=seed, start=start)
    if calibration is None:
        calibration = curve[-1].get("doubt_factor", 1.0), curve[-1].get("doubt_power", 1.0)
    card = _card(folders, held_out, simulated, steps, size, seed, start, torch_version, curve)
    card |= {"calibration": calibration, "regions": [Path(model).name for model in regions]}
    export(Proposer(network, *calibration), out, card, shape=TRIED, free=FREE_AXES)
    typer.echo(f"model     {out}")


def _torch_version() -> str:
    try:
        import torch
    except ImportError:
        raise ValueError("training needs torch: install declump with the extra 'train' (declump[train])") from None
    return str(torch.__version__)


def _check_held_out(held_out: list[str], found: int) -> None:
    if found < len(set(held_out)):
        raise ValueError(f"some of the images to hold out ({', '.join(held_out)}) are in none of the folders")


def _trained(
    train: Callable[..., tuple[Any, Any]], groups: list[Any], measured: list[Any], out: Path, **how: Any
) -> Any:
    """Run a training with a progress bar, the latest figures, and a checkpoint beside the model."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with progress_bar("batches") as progress:

        def follow(done: int, total: int, figures: dict[str, float]) -> None:
            progress(done, total)
            if len(figures) > 2:
                typer.echo(", ".join(f"{name} {value:.4g}" for name, value in figures.items()))

        checkpoint = out.with_name(f"{out.stem}-training.zip")
        return train([group for group in groups if group], measured, checkpoint=checkpoint, progress=follow, **how)


def _card(
    folders: list[Path],
    held_out: list[str],
    simulated: int,
    steps: int,
    size: int,
    seed: int,
    start: Path | None,
    torch_version: str,
    curve: list[dict[str, float]],
) -> dict[str, Any]:
    return {
        "data": [folder.resolve().name for folder in folders],
        "held out": sorted(held_out),
        "simulated smears": simulated,
        "steps": steps,
        "windows a batch": size,
        "seed": seed,
        "began with": None if start is None else start.name,
        "torch": torch_version,
        "curve": curve,
    }


def _given(folders: list[Path], data: list[Path]) -> list[Path]:
    if not folders and not data:
        raise ValueError("give at least one folder of annotated images to learn from")
    return [*folders, *data]


def _check_free(out: Path, overwrite: bool) -> None:
    if out.is_dir():
        raise FileExistsError(f"{out} is a folder; give the name of a file to write")
    if out.exists() and not overwrite:
        raise FileExistsError(f"the file {out} exists; give another name, or --overwrite")
