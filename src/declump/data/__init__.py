"""What ships with declump: networks and priors, and a simulated smear to try things on."""

from declump.data.samples import smear

__all__ = ["smear"]
