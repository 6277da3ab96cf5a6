"""The paper's experiments: methods by name, folds, tables, and what is written of them."""

from declump.research.data import open_data
from declump.research.images import store_images
from declump.research.methods import available_methods, choose_methods
from declump.research.plan import plan_folds, plan_models
from declump.research.runs import Run

__all__ = ["Run", "available_methods", "choose_methods", "open_data", "plan_folds", "plan_models", "store_images"]
