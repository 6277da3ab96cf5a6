"""
From a mask and one point in each object
========================================

No image and no network: the shape of the clump and the seeds are all that is given.
"""

import matplotlib.pyplot as plt
import numpy as np

import declump

# Four overlapping discs, as a mask; their middles are the seeds.
rows, columns = np.indices((220, 260))
seeds = np.array([(80, 80), (95, 140), (150, 105), (120, 200)])
discs = np.array([np.hypot(rows - row, columns - column) < 48 for row, column in seeds])
mask = discs.any(axis=0)

result = declump.evolve(mask, seeds, prior="round")

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
axes[0].imshow(mask, cmap="gray")
axes[0].plot(seeds[:, 1], seeds[:, 0], "r.", markersize=10)
axes[0].set_title("mask and seeds")
axes[1].imshow(declump.pictures.overlay(result, mask))
axes[1].set_title("outlines")
axes[2].imshow(result.masks.sum(axis=0), cmap="viridis")
axes[2].set_title("objects at each pixel")
for one in axes:
    one.axis("off")

# %%
print(f"mean Dice {declump.score(discs, result.masks).dice_all:.3f}")
