"""Corrected clumps of a slide as annotated images, so that networks learn from the review of a slide."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import ndimage

from declump.datasets import AnnotatedImage
from declump.datasets.results import annotate, to_bytes
from declump.pipelines.view import OTHER
from declump.records.boxes import Box
from declump.review.slides.pieces import SolvedPiece
from declump.review.slides.session import Note

KNOWN, SHOWN = 2.0, 4.0
"""So far round a corrected clump what is seen was looked at, and is shown, in diameters of a nucleus."""


def annotate_piece(solved: SolvedPiece, notes: Mapping[int, Note], diameter: float) -> AnnotatedImage | None:
    """Give a corrected clump as an annotated image; None if nothing is left of it.

    Parameters
    ----------
    solved : SolvedPiece
    notes : mapping of int to Note
        What was said of cells by their numbers: rejected ones are left out.
    diameter : float
        Usual diameter of a nucleus in pixels.
    """
    piece, clump = solved.piece, solved.clump
    if not clump.any():
        return None
    known = ndimage.distance_transform_edt(~clump) <= KNOWN * diameter
    known &= clump | (piece.view.labels < OTHER)
    verdicts = [notes.get(number, Note()).verdict for number in solved.numbers]
    rejected = np.array([verdict == "rejected" for verdict in verdicts], np.bool_)
    rows, columns = (np.flatnonzero(clump.any(axis=axis)) for axis in (1, 0))
    extent = Box(int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1)
    box = extent.grow(round(SHOWN * diameter), clump.shape)
    name = f"row {piece.box.top + box.top} column {piece.box.left + box.left}"
    whole = annotate(name, to_bytes(piece.session.image), solved.result, rejected, ~known)
    return AnnotatedImage(
        name,
        whole.image[box.slices],
        whole.cells[:, *box.slices],
        whole.nucleus_labels[box.slices],
        whole.seeds - np.array([box.top, box.left]),
        None if whole.unknown is None else whole.unknown[box.slices],
    )
