"""What the image says of hidden outlines, with its standard deviation."""

from declump.records.evidence import Evidence

__all__ = ["Evidence"]
