"""The paper's experiments: methods by name, folds, tables, and what is written of them."""

from declump.experiments.data import open_data
from declump.experiments.images import put_aside
from declump.experiments.methods import available_methods, chosen_methods
from declump.experiments.plan import plan_folds, plan_models
from declump.experiments.runs import Run

__all__ = ["Run", "available_methods", "chosen_methods", "open_data", "plan_folds", "plan_models", "put_aside"]
