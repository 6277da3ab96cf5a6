"""Review: a person corrects regions, and the clumps they change evolve again; as an object, and as a page."""

from declump.review.albums import list_unsaved
from declump.review.edits import EDITS, Edit, read_edit
from declump.review.opening import serve
from declump.review.server.guard import is_loopback
from declump.review.session import Session

__all__ = [
    "EDITS",
    "Edit",
    "Session",
    "is_loopback",
    "list_unsaved",
    "read_edit",
    "serve",
]
