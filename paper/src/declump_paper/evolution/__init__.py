"""Solvers of a clump that the paper compares with."""
