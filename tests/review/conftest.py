"""A browser to review with."""

from support.browsers import browser

__all__ = ["browser"]
