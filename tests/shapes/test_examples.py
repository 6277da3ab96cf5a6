from __future__ import annotations

import numpy as np
import pytest

from declump.shapes.examples import ShapeExamples, shape_examples


def three_cells() -> tuple[np.ndarray, list[tuple[float, float]]]:
    """Two whole discs and one that the border cuts."""
    rows, columns = np.indices((64, 64))
    seeds = [(30, 30), (33.5, 28.25), (30, 60)]
    sizes = [20, 14, 12]
    return np.stack([np.hypot(rows - r, columns - c) <= s for (r, c), s in zip(seeds, sizes, strict=True)]), seeds


def test_shape_examples_measure_every_mask_and_flag_the_cut_ones():
    examples = shape_examples(*three_cells(), rays=36)
    assert examples.shape == (3, 36)
    np.testing.assert_array_equal(examples.cut, [False, False, True])
    np.testing.assert_allclose(examples[0], 20, atol=0.75)
    np.testing.assert_allclose(examples[1], 14, atol=0.75)
    assert examples[2][0] == pytest.approx(3.5)
    np.testing.assert_array_equal(examples.whole, examples.radii[:2])


def test_shape_examples_have_360_rays_unless_told():
    masks, seeds = three_cells()
    assert shape_examples(masks[:1], seeds[:1]).shape == (1, 360)


def test_shape_examples_read_as_an_array():
    examples = shape_examples(*three_cells(), rays=36)
    assert len(examples) == 3
    np.testing.assert_array_equal(np.asarray(examples), examples.radii)
    assert np.asarray(examples, dtype=np.float32).dtype == np.float32
    np.testing.assert_allclose(np.mean(examples, axis=1), examples.radii.mean(axis=1))
    np.testing.assert_array_equal(examples[1:, ::2], examples.radii[1:, ::2])
    copied = np.array(examples)
    copied[:] = 0
    assert examples.radii.min() > 0


def test_shape_examples_of_no_cell():
    examples = ShapeExamples(np.empty((0, 36)), np.empty(0, dtype=bool))
    assert len(examples) == 0
    assert shape_examples(np.empty((0, 20, 20), dtype=bool), np.empty((0, 2)), rays=36).shape == (0, 36)


def test_shape_examples_refuse_what_does_not_belong_together():
    masks, seeds = three_cells()
    with pytest.raises(ValueError, match=r"\(3, 64, 64\) and \(2, 2\)"):
        shape_examples(masks, seeds[:2])
    with pytest.raises(ValueError, match="masks are"):
        shape_examples(masks[0], seeds[0])
    with pytest.raises(ValueError, match="no ray from seed 1"):
        shape_examples([masks[0], np.zeros_like(masks[0])], seeds[:2], rays=36)
    with pytest.raises(ValueError, match="outside the image"):
        shape_examples(masks[:1], [(30, 64)], rays=36)
    with pytest.raises(ValueError, match="at least 16 rays"):
        shape_examples(masks, seeds, rays=8)
