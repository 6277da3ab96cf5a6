"""Training of the region network that the paper describes; needs torch."""
