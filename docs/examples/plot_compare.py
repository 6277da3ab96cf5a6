"""
Side by side with other methods
===============================

The same image and regions for all methods; the truth is known.
"""

import matplotlib.pyplot as plt

import declump
from declump.compared import find_method

smear = declump.simulate.smear((360, 420), cells=7, clumps=1, overlap=0.45, stain="grey", rng=12)
regions = declump.find_regions(smear.image)
prior = declump.ShapePrior.load("default")
results = {
    "declump": declump.segment(smear.image, regions=regions),
    "MPW": find_method("mpw")(smear.image, regions, prior=prior),
    "CF": find_method("cf")(smear.image, regions, prior=prior),
}

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for one, (name, result) in zip(axes, results.items(), strict=True):
    one.imshow(declump.pictures.overlay(result, smear.image))
    one.set_title(f"{name}: Dice {declump.score(smear.cells, result.masks).dice_all:.3f}")
    one.axis("off")

# %%
# One picture says little; the page of results has the figures on public data.
