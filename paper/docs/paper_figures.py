"""Draws counterparts of all figures of the paper.

    python docs/paper_figures.py                                         simulated smears, into docs/pictures
    python docs/paper_figures.py --data ../shared/data --out /tmp/paper  also real ones, into a folder of one's choice

Cells are found as the paper finds them: true clumps and nuclei, the setting "paper", shapes of cytoplasm alone. With
real frames the shapes are those of the other frames. Pictures of real data are not kept in the repository.
docs/paper-figures.md says what each shows.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import tifffile
from PIL import Image
from scipy import ndimage
from skimage.filters import gaussian, threshold_otsu
from skimage.segmentation import find_boundaries

import declump
import declump_paper
from declump.datasets import AnnotatedImage, isbi2015, objects
from declump.drawing import pen
from declump.pictures import COLOURS, mosaic, to_display
from declump.records.segmentation import Segmentation
from declump.shapes.contours import to_mask
from declump_paper.methods import METHODS
from declump_paper.pictures import comparison_picture, growth_strip, record_growth
from declump_paper.pictures.comparison import GAP

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from joining import divide
from pages import ROOT, commit, replace_part

PICTURES = ROOT / "docs" / "pictures"
SIDE = 260
"""Longer side of a panel in pixels."""
SHOWN_RAYS = 24
GREEN, RED = np.array(COLOURS[2]), np.array((214, 39, 40))
MARGIN = 10
NANOPARTICLES = "36de69b2c0"
KC167_CENTROIDS = ((12.5, 45.5), (22.0, 20.0), (34.0, 55.0), (45.5, 37.0), (53.0, 61.0))
"""Given by hand, as in the paper: there is no truth of single cells."""
KC167_LEVEL = 0.5
"""Share of Otsu's threshold at which dim nuclei are whole and neighbours touch."""


@dataclass(frozen=True)
class Source:
    """Where cells come from.

    Attributes
    ----------
    clumps : tuple of AnnotatedImage
        Crops with one clump each, hard ones.
    joined : AnnotatedImage
        A crop in which two nuclei are one piece.
    nuclei : (N, H, W) bool
        Whole nuclei of that crop, in the order of its cells.
    prior : ShapePrior
        Shapes of cytoplasm, of other images.
    """

    clumps: tuple[AnnotatedImage, ...]
    joined: AnnotatedImage
    nuclei: np.ndarray
    prior: declump.ShapePrior


def evolve(clump: np.ndarray, seeds: np.ndarray, prior: declump.ShapePrior) -> Segmentation:
    """Outlines by the paper's method."""
    return declump.evolve(clump, seeds, prior=prior, setting="paper")


def truth(image: AnnotatedImage) -> Segmentation:
    """Outlines of the true cells."""
    return Segmentation.from_masks(image.cells, image.seeds, clump=image.clump)


def regions_of(image: AnnotatedImage) -> declump.Regions:
    """True clump and nuclei."""
    return declump_paper.research.images.true_regions(image)


def enlarge(picture: np.ndarray, side: int = SIDE) -> np.ndarray:
    """A picture, its longer side in so many pixels."""
    shown = to_display(picture)
    factor = side / max(shown.shape[:2])
    size = tuple(max(round(part * factor), 1) for part in shown.shape[1::-1])
    return np.array(Image.fromarray(shown).resize(size, Image.Resampling.BICUBIC))


def draw_outlines(results: Sequence[Segmentation], picture: np.ndarray, side: int = SIDE) -> list[np.ndarray]:
    """Outlines over an enlarged picture, one panel a result, a cell in the same colour in all of them."""
    drawn = comparison_picture([(picture, results)], [" "] * len(results), side=side)
    height = round(side * picture.shape[0] / max(picture.shape[:2]))
    return [drawn[-height:, index * (side + GAP) : index * (side + GAP) + side] for index in range(len(results))]


def name_panels(panels: Sequence[np.ndarray], names: Sequence[str], columns: int | None = None) -> np.ndarray:
    """Panels side by side, each with a letter or a few words above it."""
    named = []
    for panel, name in zip(panels, names, strict=True):
        strip = np.full((pen.SMALLEST_TEXT + 6, panel.shape[1], 3), 255, np.uint8)
        pen.write(strip, [(name, (len(strip) / 2, 2.0))])
        named.append(np.vstack([strip, panel]))
    return mosaic(named, columns=columns)


def figure1(source: Source) -> np.ndarray:
    """One hard clump: watersheds and level sets against the paper's method."""
    return _compare(source, source.clumps[:1], ("mpw", "lsf", "mcl"), side=220)


def figure2(source: Source) -> np.ndarray:
    """How radii stand for a shape, and how radii become a region."""
    image = source.clumps[0]
    whole = max(range(len(image.cells)), key=lambda index: image.cells[index].sum())
    seed = image.seeds[whole]
    radii = declump.shape_examples(image.cells[whole : whole + 1], seed[None]).radii[0]
    factor = 2 * SIDE / max(image.clump.shape)
    panels = [enlarge(image.image, 2 * SIDE) for _ in range(2)]
    middle = (seed + 0.5) * factor - 0.5
    angles = np.arange(len(radii)) * 2 * np.pi / len(radii)
    ends = middle + factor * radii[:, None] * np.stack([np.sin(angles), np.cos(angles)], axis=1)
    outline = np.vstack([ends, ends[:1]])
    shown = range(0, len(radii), len(radii) // SHOWN_RAYS)
    for index in shown:
        pen.draw(panels[0], [np.stack([middle, ends[index]])], COLOURS[0], dot=ends[index], width=1)
    pen.draw(panels[0], [outline], COLOURS[1], dot=middle)
    longest = max(shown, key=lambda index: radii[index])
    label = (middle + ends[longest]) / 2
    pen.write(panels[0], [(f"d{longest} = {radii[longest]:.0f} px", (label[0] - 12, label[1]))], size=18, anchor="mm")
    filled = to_mask(middle, radii * factor, panels[1].shape[:2])
    panels[1][filled] = (0.5 * panels[1][filled] + 0.5 * np.array(COLOURS[1])).astype(np.uint8)
    for index in shown:
        pen.draw(panels[1], [], COLOURS[0], dot=ends[index])
    pen.draw(panels[1], [], COLOURS[1], dot=middle)
    names = [f"(a) s = (d0, ..., d{len(radii) - 1}): distances from the nucleus", "(b) the region that s outlines"]
    return name_panels(panels, names)


def figure3(source: Source) -> np.ndarray:
    """The pipeline: image, clump and nuclei, shapes evolving together, result."""
    image = source.clumps[1]
    found = regions_of(image)
    areas = to_display(image.image)
    for mask, colour in ((found.clump, GREEN), (found.nuclei > 0, RED)):
        areas[mask] = (0.5 * areas[mask] + 0.5 * colour).astype(np.uint8)
    growth = record_growth(found.clump, found.seeds, prior=source.prior, setting="paper")
    result = evolve(found.clump, found.seeds, source.prior)
    first = name_panels(
        [enlarge(image.image), enlarge(areas), *draw_outlines([result], image.image)],
        ["(a) image", "(b) clump and nuclei", "(d) result"],
    )
    return mosaic([first, name_panels([growth_strip(growth, count=4)], ["(c) shapes, evolving together"])], columns=1)


def figure4(source: Source) -> np.ndarray:
    """Several clumps, all methods, truth last."""
    return _compare(source, source.clumps, ("lsf", "mcl", "mpw", "cf"), side=180)


def _compare(source: Source, clumps: Sequence[AnnotatedImage], names: Sequence[str], side: int) -> np.ndarray:
    examples = []
    for image in clumps:
        found = regions_of(image)
        others = []
        for name in names:
            options = {"prior": source.prior} if "prior" in METHODS[name].options else {}
            others.append(METHODS[name](image.image, found, **options))
        examples.append((image.image, [None, *others, evolve(found.clump, found.seeds, source.prior), truth(image)]))
    return comparison_picture(examples, ["image", *(name.upper() for name in names), "paper", "truth"], side=side)


def figure5(source: Source) -> np.ndarray:
    """Nuclei that overlap: cells before and after their nuclei are split, and the nuclei themselves, whole."""
    image, nuclei = source.joined, source.nuclei
    union = nuclei.any(axis=0)
    pieces = declump.Regions(image.clump, union)
    before = evolve(image.clump, pieces.seeds, source.prior)
    parts = divide(union)
    labels = np.max(parts * np.arange(1, len(parts) + 1)[:, None, None], axis=0).astype(np.int32)
    after = evolve(image.clump, declump.Regions(image.clump, labels).seeds, source.prior)
    split = to_display(image.image)
    split[union] = (0.5 * split[union] + 0.5 * RED).astype(np.uint8)
    split[find_boundaries(labels, mode="inner") & ndimage.binary_erosion(union, iterations=2)] = 255
    joined = _joined_pairs(nuclei)[0]
    pair = nuclei[list(joined)]
    rows, columns = np.nonzero(pair.any(axis=0))
    window = (slice(max(rows.min() - 6, 0), rows.max() + 7), slice(max(columns.min() - 6, 0), columns.max() + 7))
    record = objects.of_objects("nuclei", to_display(image.image)[window], pair[:, *window])
    whole = evolve(record.clump, record.seeds, source.prior)
    score = declump.score(record.cells, whole.masks)
    true, missed, found = draw_outlines([truth(image), before, after], image.image)
    zoomed = mosaic(draw_outlines([truth(record), whole], record.image, SIDE // 2 - 4))
    panels = [enlarge(image.image), true, missed, enlarge(split), found, zoomed]
    names = [
        "(a) image",
        f"(b) truth, {len(image.cells)} cells",
        f"(c) joined nuclei as one: {len(before)}",
        f"(d) nuclei split: {len(parts)}",
        f"(e) after splitting: {len(after)}",
        f"(f) nuclei: truth, ours ({score.dice_all:.2f})",
    ]
    return name_panels(panels, names, columns=3)


def _joined_pairs(nuclei: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of nuclei (N, H, W) that touch or overlap, those that share most first."""
    grown = [ndimage.binary_dilation(mask, np.ones((3, 3))) for mask in nuclei]
    count = len(nuclei)
    shared = {(one, two): int((grown[one] & grown[two]).sum()) for one in range(count) for two in range(one + 1, count)}
    return sorted((pair for pair in shared if shared[pair]), key=lambda pair: -shared[pair])


@dataclass(frozen=True)
class Thing:
    """One kind of object for Figure 6: its image, where any of it is, its centroids, and its masks where known."""

    name: str
    image: np.ndarray
    mask: np.ndarray
    seeds: np.ndarray
    masks: np.ndarray | None = None


def figure6(things: Sequence[Thing], prior: declump.ShapePrior) -> tuple[np.ndarray, list[str]]:
    """Other things by the shapes of cytoplasm, mask and centroids given: input, result, truth; and a table."""
    panels, rows = [], []
    for thing in things:
        result = evolve(thing.mask, thing.seeds, prior)
        covered = np.count_nonzero(result.masks.any(axis=0) & thing.mask) / np.count_nonzero(thing.mask)
        if thing.masks is None:
            column, dice = [*draw_outlines([result], thing.image), enlarge(thing.mask)], "no truth | "
        else:
            true = Segmentation.from_masks(thing.masks, thing.seeds)
            column, score = draw_outlines([result, true], thing.image), declump.score(thing.masks, result.masks)
            overlapping = score.dice_overlapping
            dice = f"{score.dice_all:.3f} | {'none' if np.isnan(overlapping) else f'{overlapping:.3f}'}"
        names = [thing.name, "result", "truth" if thing.masks is not None else "what is given (no truth)"]
        panels.append(name_panels([enlarge(thing.image), *column], names, columns=1))
        rows.append(f"| {thing.name} | {len(result)} | {covered:.3f} | {dice} |")
    return mosaic(panels), rows


def simulated_things(name: str, ratios: tuple[float, float], seed: int) -> Thing:
    """Ellipses drawn here, with axes of a range of ratios, in place of the paper's simulated benchmark."""
    random = np.random.default_rng(seed)
    shape, count = (200, 220), 9
    rows, columns = np.indices(shape)
    centres, masks = [np.array(shape) / 2], []
    while len(centres) < count:
        angle, base = random.uniform(0, 2 * np.pi), centres[random.integers(len(centres))]
        place = base + 36 * np.array([np.sin(angle), np.cos(angle)])
        inside = (place > 32).all() and (place < np.array(shape) - 32).all()
        if inside and min(np.hypot(*(place - other)) for other in centres) > 30:
            centres.append(place)
    for row, column in centres:
        size, turn, ratio = 24 * np.exp(random.uniform(-0.25, 0.25)), random.uniform(0, np.pi), random.uniform(*ratios)
        along = (rows - row) * np.sin(turn) + (columns - column) * np.cos(turn)
        across = (rows - row) * np.cos(turn) - (columns - column) * np.sin(turn)
        masks.append(np.hypot(along, across / ratio) < size)
    found = objects.of_objects(name, np.zeros(shape, np.uint8), np.array(masks))
    light = gaussian(found.cells.sum(axis=0).astype(float), 1.2) + random.normal(0, 0.08, shape)
    return Thing(name, light, found.clump, found.seeds, found.cells)


def real_things(data: Path) -> list[Thing]:
    """Yeast, nanoparticles and Kc167."""
    labels = tifffile.imread(data / "yeast" / "cellstar_brightfield_labels.tif")
    rows, columns = np.nonzero(labels)
    window = (slice(rows.min() - 12, rows.max() + 13), slice(columns.min() - 12, columns.max() + 13))
    cells = labels[window] == np.unique(labels[labels > 0])[:, None, None]
    image = tifffile.imread(data / "yeast" / "cellstar_brightfield.tif")[window]
    yeast = objects.of_objects("yeast", to_display(image), cells)
    particles = next(one for one in objects.read(data / "nanoparticles") if one.name == NANOPARTICLES)
    nuclei = tifffile.imread(data / "kc167" / "bbbc007" / "A9_p5d_cropped_4_images.tif")
    smooth = gaussian(nuclei.astype(float), 1)
    mask = smooth > KC167_LEVEL * threshold_otsu(smooth)
    given = np.array(KC167_CENTROIDS)
    pieces, _ = ndimage.label(mask)
    held = np.unique(pieces[tuple(np.round(given).astype(int).T)])
    return [
        Thing("yeast", image, yeast.clump, yeast.seeds, yeast.cells),
        Thing("nanoparticles", particles.image, particles.clump, particles.seeds, particles.cells),
        Thing("Kc167 nuclei", nuclei, ndimage.binary_fill_holes(np.isin(pieces, held[held > 0])), given),
    ]


def simulated_source() -> Source:
    """Two smears a stain, and one with joined nuclei: the first from a number on whose clump lies inside the image."""
    clumps = []
    for stain, first in (("pap", 0), ("pap", 10), ("he", 30), ("he", 20)):
        clumps.append(_annotate(f"{stain}{first}", _smear(first, stain, _is_inside)))
    made = _smear(0, "pap", lambda one: _is_inside(one) and _has_one_pair(one), joined_nuclei=0.4)
    prior = replace(declump.ShapePrior.load("default"), reach=None)
    return Source(tuple(clumps), _annotate("joined", made), made.nuclei, prior)


def _smear(
    first: int, stain: str, wanted: Callable[[declump.simulate.Smear], bool], joined_nuclei: float = 0
) -> declump.simulate.Smear:
    """The first smear, counted from a number on, that is as it should be."""
    for rng in itertools.count(first):
        made = declump.simulate.smear(
            (280, 280), cells=5, clumps=1, overlap=0.45, debris=0, joined_nuclei=joined_nuclei, stain=stain, rng=rng
        )
        if wanted(made):
            return made
    raise AssertionError


def _is_inside(made: declump.simulate.Smear) -> bool:
    """Whether the clump is one piece that does not touch the border of the image."""
    return ndimage.label(made.clump)[1] == 1 and made.clump.sum() == made.clump[1:-1, 1:-1].sum()


def _has_one_pair(made: declump.simulate.Smear) -> bool:
    """Whether two nuclei are one piece with notches, and all others alone."""
    union = made.nuclei.any(axis=0)
    return ndimage.label(union)[1] == len(made.nuclei) - 1 and len(divide(union)) == len(made.nuclei)


def _annotate(name: str, made: declump.simulate.Smear) -> AnnotatedImage:
    labels = np.zeros(made.clump.shape, np.int32)
    for number, nucleus in enumerate(made.nuclei, start=1):
        labels[nucleus] = number
    return AnnotatedImage(name, made.image, made.cells, labels, made.seeds)


def real_source(data: Path, joined: str = "frame007", shown: Sequence[str] = ("frame010", "frame004")) -> Source:
    """ISBI 2015: the most overlapping clump of some frames; shapes of the frames that are not shown."""
    frames = {image.name: image for image in isbi2015.read(data / "isbi2015")}
    chosen = [frames[name] for name in (*shown, joined)]
    others = [image for name, image in frames.items() if name not in (*shown, joined)]
    prior = declump.learn_prior(others, copies=False, reach=False)
    clumps = tuple(_crop(image, _hard_clump(image)) for image in chosen[:-1])
    last = chosen[-1]
    pairs = _joined_pairs(last.nuclei)
    crop = _crop(last, _clump_with(last, pairs[0]))
    return Source(clumps, crop, crop.nuclei, prior)


def _clumps(image: AnnotatedImage) -> list[np.ndarray]:
    """Numbers of the cells of each clump."""
    pieces, count = ndimage.label(image.clump)
    owner = np.array([np.bincount(pieces[cell]).argmax() for cell in image.cells])
    return [np.flatnonzero(owner == piece) for piece in range(1, count + 1)]


def _hard_clump(image: AnnotatedImage) -> np.ndarray:
    degrees = declump.evaluation.overlap_degree(image.cells)
    fitting = [cells for cells in _clumps(image) if 3 <= len(cells) <= 8]
    return max(fitting, key=lambda cells: degrees[cells].mean())


def _clump_with(image: AnnotatedImage, pair: tuple[int, int]) -> np.ndarray:
    return next(cells for cells in _clumps(image) if set(pair) <= set(cells.tolist()))


def _crop(image: AnnotatedImage, cells: np.ndarray) -> AnnotatedImage:
    """Some cells of an image and nothing else, with a margin."""
    rows, columns = np.nonzero(image.cells[cells].any(axis=0))
    top, left = max(rows.min() - MARGIN, 0), max(columns.min() - MARGIN, 0)
    window = (slice(top, rows.max() + MARGIN + 1), slice(left, columns.max() + MARGIN + 1))
    labels = np.zeros(image.clump.shape, np.int32)
    for number, cell in enumerate(cells, start=1):
        labels[image.nucleus_labels == cell + 1] = number
    kept = image.cells[cells][:, *window]
    return AnnotatedImage(image.name, image.image[window], kept, labels[window], image.seeds[cells] - (top, left))


FIGURES: tuple[Callable[[Source], np.ndarray], ...] = (figure1, figure2, figure3, figure4, figure5)


def main() -> None:
    """Draw all figures, and put the table of the last into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with isbi2015, yeast, nanoparticles and kc167")
    parser.add_argument("--out", type=Path, help="folder for the pictures of real data; not inside the repository")
    options = parser.parse_args()
    if (options.data is None) != (options.out is None):
        sys.exit("give --data and --out together: pictures of real data are not kept in the repository")
    source = simulated_source()
    for draw in FIGURES:
        iio.imwrite(PICTURES / f"paper-{draw.__name__}.png", draw(source))
    drawn = [simulated_things("simulated cells", (0.75, 1), 4), simulated_things("simulated particles", (0.4, 0.6), 5)]
    iio.imwrite(PICTURES / "paper-figure6.png", figure6(drawn, source.prior)[0])
    if options.data is None or options.out is None:
        return
    options.out.mkdir(parents=True, exist_ok=True)
    real = real_source(options.data)
    for draw in FIGURES:
        iio.imwrite(options.out / f"isbi2015-{draw.__name__}.png", draw(real))
    picture, rows = figure6([*drawn, *real_things(options.data)], source.prior)
    iio.imwrite(options.out / "real-figure6.png", picture)
    header = "| | objects | share of the mask explained | Dice, all | Dice, overlapping |\n|---|---|---|---|---|"
    origin = f"Made by `python docs/paper_figures.py --data ../shared/data --out FOLDER` at commit {commit()}."
    replace_part("docs/paper-figures.md", "figure6", "\n".join([origin, "", header, *rows]))


if __name__ == "__main__":
    main()
