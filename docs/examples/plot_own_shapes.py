"""
Teach it your own shapes
========================

The prior knows the shapes it was taught. Here it is taught long thin ellipses, from masks of such ellipses lying free.
"""

import matplotlib.pyplot as plt
import numpy as np

import declump

rng = np.random.default_rng(5)
rows, columns = np.indices((200, 260))


def ellipse(row, column, angle, length=52, width=17):
    """Mask of one ellipse."""
    along = (rows - row) * np.sin(angle) + (columns - column) * np.cos(angle)
    across = (rows - row) * np.cos(angle) - (columns - column) * np.sin(angle)
    return (along / length) ** 2 + (across / width) ** 2 < 1


angles = rng.uniform(0, np.pi, 60)
examples = np.array([ellipse(100, 130, angle, rng.uniform(40, 60), rng.uniform(13, 20)) for angle in angles])
prior = declump.ShapePrior.fit(declump.shape_examples(examples, np.full((60, 2), (100, 130))))

things = np.array([ellipse(100, 100, 0.4), ellipse(95, 140, 1.9), ellipse(120, 170, 0.1)])
seeds = np.array([(100, 100), (95, 140), (120, 170)])
mask = things.any(axis=0)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for one, title, name in zip(axes[:2], ("prior of cells", "prior of these shapes"), ("default", prior), strict=True):
    result = declump.evolve(mask, seeds, prior=name)
    one.imshow(declump.pictures.overlay(result, mask))
    one.set_title(f"{title}: Dice {declump.score(things, result.masks).dice_all:.2f}")
axes[2].imshow(things.sum(axis=0))
axes[2].set_title("truth")
for one in axes:
    one.axis("off")
