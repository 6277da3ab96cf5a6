from . import compared, comparison, folds, importance, methods, pictures, regions, research, training

__all__ = [
    "compared",
    "comparison",
    "folds",
    "importance",
    "methods",
    "pictures",
    "regions",
    "research",
    "training",
]
