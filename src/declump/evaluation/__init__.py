"""Scoring of overlapping masks: matching, metrics and overlap degree."""

from declump.evaluation.bootstrap import Interval, bootstrap_interval
from declump.evaluation.matching import dice_matrix, match
from declump.evaluation.metrics import Score, pool
from declump.evaluation.overlap import overlap_degree
from declump.evaluation.scoring import score

__all__ = [
    "Interval",
    "Score",
    "bootstrap_interval",
    "dice_matrix",
    "match",
    "overlap_degree",
    "pool",
    "score",
]
