"""What the image says of hidden outlines, with its doubt."""

from declump.records.evidence import Evidence

__all__ = ["Evidence"]
