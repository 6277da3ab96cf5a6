"""What a segmentation gives to other libraries and to notebooks: tables, polygons, pictures, plots."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump._installation import how_to_install
from declump.drawing.display import to_display
from declump.drawing.outlines import picture_outlines, plot_outlines
from declump.drawing.palette import COLOURS, Scale, separate_colours
from declump.images.accepting import ImageLike

if TYPE_CHECKING:
    import pandas


class HasOutlines(Protocol):
    """What :class:`Exchange` needs to know; see :class:`declump.Segmentation`."""

    @property
    def shape(self) -> tuple[int, int]:
        """Size of the image."""

    @property
    def seeds(self) -> NDArray[np.float64]:
        """(N, 2)."""

    @property
    def radii(self) -> NDArray[np.float64]:
        """(N, K)."""

    @property
    def clump(self) -> NDArray[np.int64]:
        """(N,)."""

    @property
    def polygons(self) -> NDArray[np.float64]:
        """(N, K, 2)."""

    @property
    def areas(self) -> NDArray[np.float64]:
        """(N,)."""

    @property
    def overlap_degree(self) -> NDArray[np.float64]:
        """(N,)."""

    @property
    def hidden_edges(self) -> NDArray[np.bool_]:
        """(N, K)."""

    def to_columns(self) -> dict[str, list[Any]]:
        """Give the table of the cells."""

    def _repr_png_(self) -> bytes:
        """Show the outlines."""


class Exchange:
    """The ways of a segmentation into other libraries; none of them is needed but for its own."""

    def to_columns(self: HasOutlines) -> dict[str, list[Any]]:
        """Give the table of the cells that follows from their outlines alone, column by column.

        Returns
        -------
        dict of str to list
            Number from 1, seed, clump (None for a cell that lies in none), area, diameter and share of hidden outline.
        """
        return {
            "id": list(range(1, len(self.seeds) + 1)),
            "row_px": self.seeds[:, 0].tolist(),
            "column_px": self.seeds[:, 1].tolist(),
            "clump": [clump + 1 if clump >= 0 else None for clump in self.clump.tolist()],
            "area_px": self.areas.round(1).tolist(),
            "equivalent_diameter_px": (2 * np.sqrt(self.areas / np.pi)).round(2).tolist(),
            "overlap_degree": self.overlap_degree.round(4).tolist(),
        }

    def to_pandas(
        self: HasOutlines, measurements: Mapping[str, Sequence[Any] | NDArray[Any]] | None = None
    ) -> pandas.DataFrame:
        """Give a table with a row a cell, in their order; needs pandas.

        Parameters
        ----------
        measurements : mapping of str to sequence, optional
            Columns, such as ``declump.measure(result, image).cells``; by default :meth:`to_columns`.

        Returns
        -------
        pandas.DataFrame
            With the numbers of the cells, from 1, as index ``id``.
        """
        try:
            import pandas
        except ImportError as error:
            raise ValueError(f"a table of pandas needs pandas: {how_to_install('pandas')}") from error
        table = pandas.DataFrame(dict(self.to_columns() if measurements is None else measurements))
        if "id" not in table:
            table.insert(0, "id", np.arange(1, len(table) + 1))
        if len(table) != len(self.seeds):
            raise ValueError(
                f"the measurements have {len(table)} rows; give one for each of the {len(self.seeds)} cells"
            )
        return table.set_index("id")

    def to_shapely(self: HasOutlines) -> list[Any]:
        """Give the outlines as polygons, one a cell; needs shapely.

        As in files for other programs x is the column, y the row, and the corner of the first pixel is (0, 0), so that
        its centre is (0.5, 0.5). Outlines may overlap and leave the image.

        Returns
        -------
        list of shapely.Polygon
            An empty one for a cell without an outline. Where radii are 0 an outline can touch itself; it is then made
            valid, and can be a MultiPolygon.
        """
        try:
            import shapely
        except ImportError as error:
            raise ValueError(f"polygons of shapely need shapely: {how_to_install('shapely')}") from error
        found = []
        for outline, radii in zip(self.polygons[..., ::-1] + 0.5, self.radii, strict=True):
            polygon = shapely.Polygon(outline if np.count_nonzero(radii) > 2 else None)
            found.append(polygon if polygon.is_valid else shapely.make_valid(polygon))
        return found

    def plot(
        self: HasOutlines,
        image: ImageLike | None = None,
        *,
        axes: Any = None,
        values: ArrayLike | None = None,
        **style: Any,
    ) -> Any:
        """Plot the outlines, dashed where they are hidden, over the image if there is one; needs matplotlib.

        Parameters
        ----------
        image : (H, W) or (H, W, 3), or the path of a file, optional
        axes : matplotlib.axes.Axes, optional
            Where to; by default those of a new figure.
        values : (N,) float, optional
            A measurement to colour the cells by; by default cells that touch have different colours.
        **style
            Further arguments of ``matplotlib.collections.LineCollection``, such as ``linewidths``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ValueError(f"a plot needs matplotlib: {how_to_install('plot')}") from error
        if axes is None:
            axes = pyplot.subplots()[1]
        if values is None:
            colours: NDArray[Any] = np.array(COLOURS)[separate_colours(self.seeds, self.radii)]
        else:
            measured = np.asarray(values, dtype=np.float64)
            if measured.shape != (len(self.seeds),):
                raise ValueError(f"there is one value a cell, here {len(self.seeds)}; given were {measured.shape}")
            colours = Scale.of(measured).colours(measured)
        height, width = self.shape
        if image is not None:
            picture = to_display(image)
            if picture.shape[:2] != self.shape:
                raise ValueError(
                    f"the image is {picture.shape[:2]} pixels, the segmentation is of one of {self.shape}: "
                    "give the image that was segmented"
                )
            axes.imshow(picture)
        filled = self.radii.any(axis=1)
        plot_outlines(axes, self.polygons[filled], self.hidden_edges[filled], colours[filled], **style)
        axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), aspect="equal")
        return axes

    def _repr_png_(self: HasOutlines) -> bytes:
        from PIL import Image

        buffer = io.BytesIO()
        picture = picture_outlines(self.shape, self.seeds, self.radii, self.hidden_edges)
        Image.fromarray(picture).save(buffer, "PNG")
        return buffer.getvalue()

    def _repr_html_(self: HasOutlines) -> str:
        picture = base64.b64encode(self._repr_png_()).decode()
        return (
            f'<div><img src="data:image/png;base64,{picture}" alt="outlines of the cells" '
            f'style="max-width: 100%; border: 1px solid #ccc"/><p>{"; ".join(repr(self).splitlines())}</p></div>'
        )
