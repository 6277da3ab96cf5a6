"""Models from annotated images: shape priors, and networks, which need the extra ``train``.

The public names stand in ``__init__.pyi``; each is imported when it is first used, so that only training loads torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
