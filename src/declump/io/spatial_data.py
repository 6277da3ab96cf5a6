"""A segmentation as SpatialData: outlines that overlap, seeds, and a table of measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from declump._installation import how_to_install
from declump.images.accepting import ImageLike, to_pixels
from declump.io.formats.parts.result import Result
from declump.io.formats.parts.tracing import trace_nuclei
from declump.measurements.tables import measure
from declump.records.segmentation import Segmentation

if TYPE_CHECKING:
    from spatialdata import SpatialData

CELLS, NUCLEI, SEEDS, TABLE, IMAGE = "cells", "nuclei", "seeds", "table", "image"


def to_spatialdata(
    segmentation: Segmentation,
    image: ImageLike | None = None,
    *,
    measurements: Mapping[str, Sequence[Any] | NDArray[Any]] | None = None,
) -> SpatialData:
    """Give a segmentation as an object of SpatialData; needs ``declump[spatialdata]``.

    x is the column and y the row; the corner of the first pixel is (0, 0), as SpatialData has it.

    Parameters
    ----------
    segmentation : Segmentation
    image : (H, W) or (H, W, 3), or the path of a file, optional
        Becomes ``image``.
    measurements : mapping of str to sequence, optional
        Columns of the table, one value a cell; by default those of :func:`declump.measure`.

    Returns
    -------
    spatialdata.SpatialData
        Shapes ``cells`` and, where they are known, ``nuclei``; points ``seeds``; and ``table``, an AnnData that
        annotates ``cells``: numbers are its variables, texts stand in ``obs``. Cells are indexed by their numbers, from
        1; those without an outline are left out.

    Raises
    ------
    ValueError
        If a library is not installed, or image or measurements do not belong to the segmentation.
    """
    try:
        import anndata
        import geopandas
        import pandas
        import shapely
        import spatialdata
        from spatialdata import models
    except ImportError as error:
        raise ValueError(f"SpatialData needs {error.name}: {how_to_install('spatialdata')}") from error
    pixels = None if image is None else to_pixels(image)
    measured = measure(segmentation, pixels).cells if measurements is None else measurements
    checked = Result(segmentation, pixels, measured)
    outlines = segmentation.to_shapely()
    kept = np.array([index for index, outline in enumerate(outlines) if not outline.is_empty], dtype=np.int64)
    numbers = kept + 1
    cells = geopandas.GeoDataFrame(geometry=[outlines[index] for index in kept], index=numbers)
    elements: dict[str, Any] = {CELLS: models.ShapesModel.parse(cells)}
    traced = {number: outline for number, outline in enumerate(trace_nuclei(segmentation), 1) if outline is not None}
    if traced:
        rings = [shapely.Polygon(outline[:, ::-1] + 0.5) for outline in traced.values()]
        elements[NUCLEI] = models.ShapesModel.parse(geopandas.GeoDataFrame(geometry=rings, index=list(traced)))
    seeds = pandas.DataFrame(segmentation.seeds[kept][:, ::-1] + 0.5, columns=["x", "y"], index=numbers)
    elements[SEEDS] = models.PointsModel.parse(seeds.assign(cell=numbers))
    table = pandas.DataFrame({name: np.asarray(values)[kept] for name, values in (checked.measurements or {}).items()})
    numeric = table.select_dtypes(["number", "bool"]).drop(columns="id", errors="ignore").astype(np.float64)
    obs = table.drop(columns=[*numeric.columns, "id"], errors="ignore").set_index(numbers.astype(str))
    obs = obs.assign(region=pandas.Categorical([CELLS] * len(kept), categories=[CELLS]), cell=numbers)
    found = anndata.AnnData(X=numeric.to_numpy(), obs=obs, var=pandas.DataFrame(index=numeric.columns.astype(str)))
    elements[TABLE] = models.TableModel.parse(found, region=CELLS, region_key="region", instance_key="cell")
    if pixels is not None:
        planes = pixels[None] if pixels.ndim == 2 else np.moveaxis(pixels, -1, 0)
        elements[IMAGE] = models.Image2DModel.parse(np.ascontiguousarray(planes), dims=("c", "y", "x"))
    return spatialdata.SpatialData.init_from_elements(elements)
