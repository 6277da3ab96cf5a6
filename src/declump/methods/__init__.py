"""Every method by name, declump itself among them: one list, one signature."""

from declump.methods.registry import METHODS, OURS, Method, find_method, method_names
from declump.methods.rehearsal import two_discs

__all__ = ["METHODS", "OURS", "Method", "find_method", "method_names", "two_discs"]
