"""``declump fuse``: one sharp image out of a focus stack in separate files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import declump
from declump._files import atomic_file
from declump.cli.terminal import count_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENDINGS = (".png", ".tif", ".tiff")


def fuse(
    planes: Annotated[
        list[str],
        typer.Argument(metavar="PLANE", help="Planes in order of their focus, or a folder or TIFF of them."),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The sharp image, .png or .tif.")],
    chosen: Annotated[
        Path | None, typer.Option("--planes", help="Also write the plane that each pixel came from, counted from 1.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
) -> None:
    """Make one image out of a focus stack, sharp everywhere."""
    for path in (out, chosen):
        if path is not None and path.suffix.lower() not in ENDINGS:
            raise ValueError(f"{path} has an ending that is not written; give a name that ends on {', '.join(ENDINGS)}")
        if path is not None and path.exists() and not overwrite:
            raise FileExistsError(f"the file {path} exists; give another name, or --overwrite")
    sources = declump.batch.find_sources(planes, out=None, stack="planes")
    image, numbers = declump.fuse_stack([declump.io.read_image(source.path, page=source.page) for source in sources])
    _write(image, out)
    if chosen is not None:
        _write((numbers + 1).astype("uint8" if len(sources) < 256 else "uint16"), chosen)
    typer.echo(f"{count_of(len(sources), 'plane')} of {image.shape[0]} x {image.shape[1]} pixels")
    typer.echo(f"image     {out}")


def _write(image: NDArray[Any], path: Path) -> None:
    """Write an image without loss; PNG has no floating-point numbers and no colours of 16 bits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as draft:
        if path.suffix.lower() != ".png":
            import tifffile

            tifffile.imwrite(draft, image, photometric="rgb" if image.ndim == 3 else "minisblack", compression="zlib")
            return
        if image.dtype.kind == "f" or (image.ndim == 3 and image.dtype.itemsize > 1):
            raise ValueError(f"PNG does not hold {image.dtype} pixels of this kind; name the image .tif")
        from PIL import Image

        Image.fromarray(image).save(draft, format="PNG")
