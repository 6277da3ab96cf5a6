"""Training of the region network; needs the extra ``train`` (torch)."""
