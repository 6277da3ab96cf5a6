"""The experiments of the paper behind declump: compared methods, ablations, importance learning, tables and figures.

It hands declump a solver, regions or weights where it differs; declump itself knows nothing of it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
