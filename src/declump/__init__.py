"""declump: every cell of an overlapping clump, whole."""
