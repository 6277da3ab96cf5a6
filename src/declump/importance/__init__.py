"""How much each shape example counts in the prior: learnt as the paper prints it, or from shapes that are left out."""

from declump.importance.held_out import held_out_importance
from declump.importance.printed import learn_importance
from declump.records.importance import Importance, Step

__all__ = ["Importance", "Step", "held_out_importance", "learn_importance"]
