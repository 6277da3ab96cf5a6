"""How much each shape example counts in the prior: learnt as the paper prints it, or from shapes that are left out."""

from declump_paper.importance.held_out import held_out_importance
from declump_paper.importance.learnt import Importance, Step
from declump_paper.importance.printed import learn_importance

__all__ = ["Importance", "Step", "held_out_importance", "learn_importance"]
