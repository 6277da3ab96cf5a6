"""The smear network: one encoder that saw natural images, and heads for clumps, nuclei, other objects and layers."""
