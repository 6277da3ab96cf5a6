"""
Watch a clump evolve
====================

All cells of a clump move together, from their aligned start until their union explains the clump.
"""

import matplotlib.pyplot as plt

import declump
from declump import pictures

smear = declump.simulate.smear((300, 300), cells=5, clumps=1, overlap=0.4, rng=10)
growth = pictures.record_growth(smear.clump, smear.seeds)

figure, axes = plt.subplots(figsize=(11, 7.6), layout="constrained")
axes.imshow(pictures.growth_strip(growth, smear.image, columns=3))
axes.axis("off")

# %%
# The number of pixels that the cells do not explain, or cover without need, falls with every step.

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(growth.history, "o-")
axes.set(xlabel="step", ylabel="pixels that differ", yscale="log")
