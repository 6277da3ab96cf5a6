"""What ships with declump: networks and priors, a simulated smear and two real frames to try things on."""

from declump.data.samples import pap, smear

__all__ = ["pap", "smear"]
