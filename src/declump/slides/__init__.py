"""Whole slides: images that fit no memory, on one machine or a cluster, every clump solved once, and whole."""

from declump.slides.options import SlideOptions
from declump.slides.readers import open_slide
from declump.slides.run import FORMATS, SlideOutcome, segment_slide

__all__ = ["FORMATS", "SlideOptions", "SlideOutcome", "open_slide", "segment_slide"]
