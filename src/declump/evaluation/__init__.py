"""Scoring of overlapping masks: matching, metrics, overlap degree and the folds of the paper's protocol."""

from declump.evaluation.bootstrap import Interval, bootstrap_interval
from declump.evaluation.folds import folds
from declump.evaluation.matching import dice_matrix, match
from declump.evaluation.metrics import Score, pool
from declump.evaluation.overlap import overlap_degree
from declump.evaluation.scoring import score

__all__ = [
    "Interval",
    "Score",
    "bootstrap_interval",
    "dice_matrix",
    "folds",
    "match",
    "overlap_degree",
    "pool",
    "score",
]
