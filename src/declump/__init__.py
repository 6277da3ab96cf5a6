"""declump: every cell of an overlapping clump, whole.

The public names stand in ``__init__.pyi``; each is imported when it is first used, so that ``import declump`` stays
quick.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
