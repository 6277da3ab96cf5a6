from __future__ import annotations

import numpy as np
import pytest

from declump.records.clump import split_clumps
from declump.regions import Regions
from declump.shapes.contours import first_exits
from declump_paper.compared import find_method
from declump_paper.compared.star import nearest_seeds, star, voronoi_ratio
from paper_support.level_set_clumps import dices, ellipse, nuclei_of, regions_of, three_ellipses, two_discs


@pytest.mark.parametrize(("cells", "least"), [(two_discs(), 0.9), (three_ellipses(), 0.86)], ids=["two", "three"])
def test_overlapping_cells_come_out_whole(cells: np.ndarray, least: float) -> None:
    result = star(None, regions_of(cells))
    assert dices(result.masks, cells).min() > least
    assert (result.masks[0] & result.masks[1]).sum() > 0.3 * (cells[0] & cells[1]).sum()


def test_the_only_cell_of_a_clump_is_the_clump() -> None:
    cells = ellipse((80, 90), 40, 45, 30, 22, 0.5)[None]
    assert dices(star(None, regions_of(cells)).masks, cells).min() > 0.97


def test_cells_at_the_image_border() -> None:
    cells = two_discs()[:, 30:, 30:]
    assert dices(star(None, regions_of(cells)).masks, cells).min() > 0.88


def test_no_cells_and_seeds_outside() -> None:
    empty = np.zeros((40, 50), bool)
    assert len(star(None, Regions(empty, empty))) == 0
    cells = two_discs()
    nuclei = nuclei_of(cells)
    nuclei[2:6, 2:6] = 3
    result = star(None, Regions(cells.any(axis=0), nuclei))
    assert len(result) == 3 and not result.radii[2].any() and result.clump[2] == -1
    assert dices(result.masks[:2], cells).min() > 0.9


def test_the_same_input_gives_the_same_bytes_and_progress_ends() -> None:
    regions, calls = regions_of(three_ellipses()), []
    first = find_method("star")(None, regions, progress=lambda done, total: calls.append((done, total)))
    assert first.radii.tobytes() == star(None, regions).radii.tobytes()
    assert calls == [(3, 3)]


def test_cells_are_star_shaped_where_the_clump_is_not() -> None:
    rows, columns = np.indices((130, 150))
    clump = (np.hypot(rows - 65, columns - 60) <= 45) & ~((np.abs(rows - 65) <= 6) & (columns > 75))
    clump |= ellipse((130, 150), 65, 120, 18, 18, 0) & ~((np.abs(rows - 65) <= 6) & (columns < 112))
    nuclei = np.zeros(clump.shape, np.int32)
    nuclei[60:66, 40:46], nuclei[62:68, 122:128] = 1, 2
    (only,) = split_clumps(clump, Regions(clump, nuclei).seeds)
    masks = star(None, Regions(clump, nuclei)).masks
    exits = first_exits(masks[0], only.seeds[0] + only.origin)
    assert exits[0] < 40  # The slit faces the nucleus: what lies behind it is not seen.
    assert not masks[0][65, 90:110].any()


def test_voronoi_ratio_is_one_half_way() -> None:
    (clump,) = split_clumps(np.ones((21, 61), bool), [(10, 10), (10, 50)])
    distances, owners = nearest_seeds(clump)
    ratio = voronoi_ratio(distances, owners, 0, (10, 10))
    assert ratio[10, 10] == 0 and ratio[10, 30] == 1 and ratio[10, 40] == 3 and ratio[10, 50] == 4
    (clump,) = split_clumps(np.ones((21, 61), bool), [(10, 10)])
    assert not voronoi_ratio(*nearest_seeds(clump), 0, (10, 10)).any()
