"""The judge of nuclei: spots of images with marked nuclei, network, training."""
