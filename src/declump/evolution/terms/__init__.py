"""The terms that the energy of a clump is the sum of, one a file; :mod:`declump.evolution.terms.build` chooses them."""
