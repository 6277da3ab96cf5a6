"""What the image says of hidden outlines, with its doubt."""

from declump.evidence.record import Evidence

__all__ = ["Evidence"]
