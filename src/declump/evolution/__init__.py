"""One clump at a time: energy, trust region, outlines at its edge; and all clumps of a mask."""
