"""What a run does with every image, as it is kept in ``run.json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from declump._files import file_digest
from declump.evidence import proposals
from declump.images.stacks import STACKS
from declump.io.formats import DEFAULT
from declump.models import model_path
from declump.pipelines.cells import segment
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.regions import inference
from declump.regions.options import MIN_NUCLEUS, RegionOptions, usual_diameter
from declump.shapes.named import find_shipped


@dataclass(frozen=True)
class Options:
    """What changes the results.

    Attributes
    ----------
    regions, evidence, rays, prior, setting, pixel_size, diameter
        See :func:`declump.segment`. Without ``pixel_size`` that of an image's metadata is taken.
    judge, min_nucleus
        See :func:`declump.find_regions`.
    min_confidence : float
        Cells of less confidence are left out.
    numbers : bool
        Whether the overlay has the numbers of the cells.
    others : bool
        Whether the overlay marks leukocytes and debris, too.
    stack : "fuse" or "planes"
        Whether the planes of a focus stack were taken for one image, or each for one; see :func:`find_sources`.
    formats : tuple of str
        Names in ``declump.io.FORMATS``.
    """

    regions: str = "default"
    evidence: str | None = None
    rays: str = "default"
    prior: str = "default"
    setting: str = "joint"
    pixel_size: float | None = None
    diameter: float | None = None
    judge: str = "default"
    min_nucleus: float = MIN_NUCLEUS
    min_confidence: float = 0.0
    others: bool = False
    numbers: bool = False
    stack: str = "fuse"
    formats: tuple[str, ...] = DEFAULT

    def __post_init__(self) -> None:
        """Refuse sizes that cannot be."""
        self.region_options()
        if not 0 <= self.min_confidence <= 1:
            raise ValueError(f"the least confidence of a cell is from 0 to 1; given was {self.min_confidence}")
        if self.stack not in STACKS:
            raise ValueError(f"a focus stack is dealt with by {' or '.join(STACKS)}; given was {self.stack!r}")

    def region_options(self, pixel_size: float | None = None) -> RegionOptions:
        """Give how regions are to be found in an image.

        Parameters
        ----------
        pixel_size : float, optional
            Micrometres a pixel, where the image itself tells. A first guess of how large nuclei are.
        """
        told = None if self.pixel_size is not None or pixel_size is None else usual_diameter(pixel_size)
        return RegionOptions(
            model=self.regions,
            diameter=self.diameter,
            pixel_size=self.pixel_size,
            judge=self.judge,
            min_nucleus=self.min_nucleus,
            expected_diameter=told,
        )

    def segment(
        self,
        image: ArrayLike,
        regions: Regions | RegionOptions,
        *,
        progress: Callable[[int, int], None] | None = None,
        stage: Callable[[str], None] | None = None,
    ) -> Segmentation:
        """Find the cells of an image; see :func:`declump.segment`."""
        return segment(
            image,
            regions=regions,
            evidence=self.evidence,
            rays=self.rays,
            prior=self.prior,
            setting=self.setting,
            progress=progress,
            stage=stage,
        )

    def model_digests(self) -> dict[str, str | None]:
        """Give the digests of the files that results follow from, by option; None for what is in no file."""
        files: dict[str, Path | None] = {
            "regions": model_path(self.regions, inference.SHIPPED),
            "judge": None if self.judge == "none" else model_path(self.judge, "judge.onnx"),
            "rays": model_path(self.rays, proposals.SHIPPED),
            "prior": find_shipped(self.prior) or Path(self.prior),
        }
        return {name: file_digest(path) if path and path.is_file() else None for name, path in files.items()}

    def record(self) -> dict[str, Any]:
        """Give all options as JSON has them."""
        return {**asdict(self), "formats": list(self.formats)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Options:
        """Read options as JSON has them; what is not named is as by default.

        Raises
        ------
        ValueError
            If an option cannot be.
        """
        names = {field.name for field in fields(cls)}
        given = {name: value for name, value in record.items() if name in names}
        if "formats" in given:
            given["formats"] = tuple(map(str, given["formats"]))
        try:
            return cls(**given)
        except TypeError as error:
            raise ValueError(f"these are no options of a run ({error})") from error
