"""Readers of public data sets: each gives annotated images, whole masks of every cell included."""

from declump.datasets import isbi2014, isbi2015
from declump.datasets.annotated import AnnotatedImage
from declump.datasets.nuclei import assign_nuclei

__all__ = ["AnnotatedImage", "assign_nuclei", "isbi2014", "isbi2015"]
