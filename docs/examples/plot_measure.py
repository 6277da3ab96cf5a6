"""
Nucleus-to-cytoplasm ratio of whole cells
=========================================

Measured from found cells, against the exact truth of a simulated smear. Hidden parts of cells count.
"""

import matplotlib.pyplot as plt
import numpy as np

import declump

sample = declump.data.smear("grey")
result = declump.segment(sample.image)
cells = declump.measure(result, sample.image, pixel_size=0.2).cells

# Found cells by the true nucleus that lies at their seed.
seeds = np.rint(result.seeds).astype(int)
owner = [next((i for i, mask in enumerate(sample.nuclei) if mask[row, column]), None) for row, column in seeds]
pairs = [(found, true) for found, true in enumerate(owner) if true is not None]
measured = [cells["nucleus_to_cytoplasm_area_ratio"][found] for found, _ in pairs]
nuclei, whole = sample.nuclei.sum(axis=(1, 2)), sample.cells.sum(axis=(1, 2))
true = [nuclei[index] / (whole[index] - nuclei[index]) for _, index in pairs]

figure, axes = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
axes.scatter(true, measured, c=[cells["confidence"][found] for found, _ in pairs], vmin=0, vmax=1)
limit = 1.05 * max(*true, *measured)
axes.plot([0, limit], [0, limit], "k:", linewidth=1)
axes.set(xlabel="true ratio", ylabel="measured ratio", xlim=(0, limit), ylim=(0, limit))
figure.colorbar(axes.collections[0], label="confidence")
