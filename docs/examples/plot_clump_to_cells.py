"""
From an image to whole cells
============================

The sample smear in, one whole outline per cell out.
"""

import matplotlib.pyplot as plt

import declump

sample = declump.data.smear("pap")
result = declump.segment(sample.image)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
left.imshow(sample.image)
left.set_title("the image")
right.imshow(declump.pictures.overlay(result, sample.image))
right.set_title(f"{len(result)} cells, dashed where hidden")
for axes in (left, right):
    axes.axis("off")

# %%
# The truth of a simulated smear is known, so that the result can be scored.

score = declump.score(sample.cells, result.masks)
print(f"{len(result)} found, {len(sample.cells)} true, mean Dice {score.dice_all:.3f}")
