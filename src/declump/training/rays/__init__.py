"""Training of the ray network; needs the extra ``train``."""
