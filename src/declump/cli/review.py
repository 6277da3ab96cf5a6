"""``declump open``: look at images and correct their cells in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

import declump
from declump.cli.terminal import count_of, tell


def open_review(
    given: Annotated[
        Path,
        typer.Argument(
            metavar="IMAGE|SLIDE|FOLDER|RESULTS", help="An image, a slide, a folder of images, or a results folder."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder of the results; by default beside the images.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on; others can reach all but this one.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the page.")] = True,
) -> None:
    """Look at images or a slide with their cells in the browser, correct what is wrong, and keep the result."""
    if not declump.review.is_loopback(host):
        tell(
            f"warning: with --host {host} other computers can reach the page, and what it sends is not encrypted; "
            "whoever has the address below can see and change the results"
        )

    def say(address: str, folder: Path) -> None:
        typer.echo(f"results   {folder}")
        typer.echo(f"page      {address}")
        typer.echo("Ctrl-C ends the review; every edit is kept.")
        if browser:
            webbrowser.open(address)

    folder = declump.review.serve(given, out, host=host, port=port, ready=say)
    unsaved = declump.review.list_unsaved(folder)
    if unsaved:
        tell(f"{count_of(len(unsaved), 'image')} with unsaved edits: 'declump open {folder}' shows them, to be saved")
