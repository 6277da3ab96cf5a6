"""Plugins of other programs: each translates types and calls the packages below, nothing else."""
