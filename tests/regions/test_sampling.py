from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from declump import _kernels
from declump.regions.sampling import sample_affine, shrink


@given(
    st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 12), st.floats(-8, 8), st.floats(-8, 8), st.floats(0, 7)
)
def test_the_kernel_samples_as_its_twin_does(
    seed: int, height: int, width: int, row: float, column: float, turn: float
) -> None:
    rng = np.random.default_rng(seed)
    planes = rng.integers(0, 256, (2, height, width)).astype(rng.choice(["uint8", "float32"]))
    steps = rng.uniform(0.3, 2) * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    beyond, corner = np.array([1.0, 0.5]), np.array([row, column])
    window = np.empty((2, 9, 9), np.float32)
    _kernels.sample_affine(planes, 1 / 200, beyond, corner, steps, window)
    expected = sample_affine(planes, 1 / 200, beyond, corner, steps, 9)
    # A point on the rim of the image may fall to either side.
    close = np.isclose(window, expected, atol=1e-5)
    assert (~close).any(axis=0).sum() <= 1


def test_a_number_is_sampled_where_it_lies() -> None:
    labels = np.zeros((5, 6), np.int32)
    labels[2, 3], labels[4, 5] = 7, 2
    window = np.empty((5, 6), np.float32)
    _kernels.sample_number(labels, 7, np.array([0.0, 0.0]), np.eye(2), window)
    assert window.sum() == 1 and window[2, 3] == 1
    _kernels.sample_number(labels, 2, np.array([2.0, 3.0]), np.eye(2), window)
    assert window.sum() == 1 and window[2, 2] == 1


@given(
    st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 12), st.floats(-8, 8), st.floats(-8, 8), st.floats(0, 7)
)
def test_a_number_is_sampled_from_the_nearest_pixel(
    seed: int, height: int, width: int, row: float, column: float, turn: float
) -> None:
    labels = np.random.default_rng(seed).integers(0, 3, (height, width)).astype(np.int32)
    steps = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    window = np.empty((9, 7), np.float32)
    _kernels.sample_number(labels, 2, np.array([row, column]), steps, window)
    # In the order of the kernel, so that both round alike.
    down, right = np.indices(window.shape)
    rows, columns = (
        np.floor(start + down * steps[0, axis] + right * steps[1, axis] + 0.5).astype(int)
        for axis, start in enumerate((row, column))
    )
    known = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    np.testing.assert_array_equal(window, known & (labels[rows * known, columns * known] == 2))


def test_shrinking_keeps_means_and_places() -> None:
    planes = np.arange(2 * 6 * 9, dtype=np.float32).reshape(2, 6, 9)
    small = shrink(planes, 3)
    assert small.shape == (2, 2, 3)
    np.testing.assert_allclose(small.mean(axis=(1, 2)), planes.mean(axis=(1, 2)))
    assert shrink(planes, 1) is planes
    assert shrink(planes[:, :5, :7], 3).shape == (2, 2, 3)
