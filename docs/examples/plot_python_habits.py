"""
Tables, polygons and plots
==========================

What was found goes on to pandas, shapely and matplotlib as it is.
"""

import tempfile
from pathlib import Path

import imageio.v3 as iio

import declump

sample = declump.data.smear("pap")
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "smear.png")
    iio.imwrite(path, sample.image)
    result = declump.segment(path)  # a path, or an array of NumPy, dask, zarr or xarray

# %%
# Outlines over the image, coloured by area; dashed where they are hidden.

axes = result.plot(sample.image, values=result.areas)

# %%
# A row a cell, with all measurements.

table = declump.measure(result, sample.image).to_pandas()
print(table[["area_px2", "nucleus_to_cytoplasm_area_ratio", "overlap_degree", "confidence"]].round(2).head())

# %%
# Polygons overlap, as the cells do.

polygons = result.to_shapely()
shared = max(a.intersection(b).area for i, a in enumerate(polygons) for b in polygons[:i])
print(f"the two cells that overlap most share {shared:.0f} square pixels")
