"""Bridges into programs that users have already: each translates types and calls the rooms below, nothing else."""
