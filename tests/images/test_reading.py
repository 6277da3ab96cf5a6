from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from PIL import Image, ImageOps

from declump.io import count_images, read_image, read_labels, read_mask, read_mask_stack, read_size
from declump.regions import seeds_from_labels

MASK = np.zeros((20, 30), bool)
MASK[3:9, 4:12] = True
MASK[12:15, 20:28] = True
BYTES = MASK.astype(np.uint8) * 255
NOISE = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)


def rgba(colour: tuple[int, int, int]) -> NDArray[np.uint8]:
    pixels = np.full((*MASK.shape, 4), 255, np.uint8)
    pixels[..., :3] = np.where(MASK[..., None], colour, 0)
    return pixels


def transparent_background() -> NDArray[np.uint8]:
    """A white sheet, opaque only on the cells."""
    pixels = np.full((*MASK.shape, 4), 255, np.uint8)
    pixels[..., 3] = np.where(MASK, 128, 0)
    return pixels


@pytest.mark.parametrize(
    "pixels",
    [
        MASK,
        BYTES,
        MASK.astype(np.uint8),
        MASK.astype(np.uint8) + 1,
        BYTES.astype(np.uint16) * 257,
        np.stack([BYTES] * 3, axis=2),
        rgba((255, 255, 255)),
        rgba((200, 0, 10)),
        transparent_background(),
        np.stack([BYTES, np.full_like(BYTES, 255)], axis=2),
    ],
    ids=["1 bit", "0 and 255", "0 and 1", "1 and 2", "16 bits", "rgb", "rgba", "red", "transparent", "grey and alpha"],
)
@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_masks_of_every_kind_read_alike(pixels: NDArray[np.uint8], suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"mask.{suffix}"
    Image.fromarray(pixels).save(path)
    assert np.array_equal(read_mask(path), MASK)
    labels = read_labels(path)
    assert np.array_equal(labels > 0, MASK) and labels.max() == 2


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int8, np.uint16, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_masks_written_by_tifffile(kind: type, compression: str | None, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "mask.tif", MASK.astype(kind), compression=compression)
    assert np.array_equal(read_mask(tmp_path / "mask.tif"), MASK)


@pytest.mark.parametrize("compression", ["tiff_lzw", "group4", "packbits", "tiff_adobe_deflate"])
def test_compressions_of_tiff(compression: str, tmp_path: Path) -> None:
    Image.fromarray(MASK).save(tmp_path / "mask.tif", compression=compression)
    assert np.array_equal(read_mask(tmp_path / "mask.tif"), MASK)


def test_palette_images(tmp_path: Path) -> None:
    indexed = Image.fromarray(MASK.astype(np.uint8))
    indexed.putpalette([0, 0, 0, 255, 0, 0])
    for name in ("mask.png", "mask.tif"):
        indexed.save(tmp_path / name)
        assert np.array_equal(read_mask(tmp_path / name), MASK)


def test_white_is_zero(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "fax.tif", 255 - BYTES, photometric="miniswhite")
    assert np.array_equal(read_mask(tmp_path / "fax.tif"), MASK)


@pytest.mark.parametrize(("value", "foreground"), [(0, False), (1, True), (255, True)])
def test_one_value(value: int, foreground: bool, tmp_path: Path) -> None:
    Image.fromarray(np.full((5, 7), value, np.uint8)).save(tmp_path / "mask.png")
    assert (read_mask(tmp_path / "mask.png") == foreground).all()


def test_a_mask_has_two_values(tmp_path: Path) -> None:
    Image.fromarray(BYTES).save(tmp_path / "mask.jpg")
    with pytest.raises(ValueError, match=r"different values, a mask has two; threshold it first$"):
        read_mask(tmp_path / "mask.jpg")
    Image.fromarray(NOISE).save(tmp_path / "photo.png")
    with pytest.raises(ValueError, match="no black or transparent pixel"):
        read_mask(tmp_path / "photo.png")


@pytest.mark.parametrize(
    "pixels",
    [
        NOISE,
        NOISE[..., 0],
        NOISE[..., 0].astype(np.uint16) * 200,
        NOISE[..., 0] / np.float32(255),
        NOISE.astype(np.uint16) * 200,
        NOISE / np.float32(255),
        MASK,
    ],
    ids=["rgb", "grey", "16 bits", "float", "16-bit rgb", "float rgb", "bool"],
)
def test_images_keep_their_numbers(pixels: NDArray[np.uint8], tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "image.tif", pixels, photometric="rgb" if pixels.ndim == 3 else "minisblack")
    image = read_image(tmp_path / "image.tif")
    assert image.dtype == pixels.dtype and np.array_equal(image, pixels)


def test_images_lose_their_opacity(tmp_path: Path) -> None:
    with_alpha = np.concatenate([NOISE, np.full((20, 30, 1), 7, np.uint8)], axis=2)
    Image.fromarray(with_alpha).save(tmp_path / "image.png")
    assert np.array_equal(read_image(tmp_path / "image.png"), NOISE)
    tifffile.imwrite(tmp_path / "planes.tif", np.moveaxis(NOISE, 2, 0), photometric="rgb", planarconfig="separate")
    assert np.array_equal(read_image(tmp_path / "planes.tif"), NOISE)
    Image.fromarray(NOISE).save(tmp_path / "image.jpg", quality=95)
    assert read_image(tmp_path / "image.jpg").shape == NOISE.shape


def test_labels_keep_their_numbers(tmp_path: Path) -> None:
    labels = np.zeros((20, 30), np.int32)
    labels[2:5, 2:5], labels[2:5, 5:9], labels[10:14, 10:14] = 7, 300, 2
    for kind in (np.uint16, np.int32, np.float32):
        tifffile.imwrite(tmp_path / "labels.tif", labels.astype(kind))
        assert np.array_equal(read_labels(tmp_path / "labels.tif"), labels)
    colours = np.array([(0, 0, 0), (255, 0, 0), (0, 255, 0), (0, 0, 9)], np.uint8)
    Image.fromarray(colours[np.unique(labels, return_inverse=True)[1].reshape(labels.shape)]).save(tmp_path / "c.png")
    coloured = read_labels(tmp_path / "c.png")
    assert np.unique(coloured).tolist() == [0, 1, 2, 3]
    assert np.unique(coloured[labels == 7]).size == 1 and np.array_equal(coloured > 0, labels > 0)


def test_what_is_no_label_image(tmp_path: Path) -> None:
    Image.fromarray(NOISE[..., 0]).save(tmp_path / "photo.png")
    with pytest.raises(ValueError, match="photograph"):
        read_labels(tmp_path / "photo.png")
    tifffile.imwrite(tmp_path / "float.tif", np.linspace(0, 1, 600, dtype=np.float32).reshape(20, 30))
    with pytest.raises(ValueError, match="whole numbers"):
        read_labels(tmp_path / "float.tif")
    tifffile.imwrite(tmp_path / "minus.tif", np.repeat(np.arange(-1, 3, dtype=np.int16), 9).reshape(6, 6))
    with pytest.raises(ValueError, match="negative"):
        read_labels(tmp_path / "minus.tif")
    Image.fromarray(BYTES).save(tmp_path / "labels.jpg")
    with pytest.raises(ValueError, match="JPEG"):
        read_labels(tmp_path / "labels.jpg")


def test_stacks_of_every_kind(tmp_path: Path) -> None:
    masks = np.stack([MASK, ~MASK, np.zeros_like(MASK), np.ones_like(MASK)])
    tifffile.imwrite(tmp_path / "plain.tif", masks.astype(np.uint8), photometric="minisblack")
    tifffile.imwrite(tmp_path / "imagej.tif", masks.astype(np.uint8) * 255, imagej=True)
    first, *others = [Image.fromarray(mask) for mask in masks]
    first.save(tmp_path / "lzw.tif", save_all=True, append_images=others, compression="tiff_lzw")
    # ImageJ describes very long stacks by their first page alone, as this option does.
    tifffile.imwrite(tmp_path / "first.tif", masks.astype(np.uint8), photometric="minisblack", truncate=True)
    np.savez(tmp_path / "masks.npz", masks=masks)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("not a mask")
    for index, mask in enumerate(masks):
        Image.fromarray(mask).save(tmp_path / "folder" / f"cell{index}.{'PNG' if index % 2 else 'tiff'}")
    for name in ("plain.tif", "imagej.tif", "lzw.tif", "first.tif", "masks.npz", "folder"):
        assert np.array_equal(read_mask_stack(tmp_path / name), masks), name
    with pytest.raises(ValueError, match="more than one page"):
        read_mask(tmp_path / "first.tif")


def test_stacks_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no PNG or TIFF"):
        read_mask_stack(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_mask_stack(tmp_path / "missing.npz")
    np.savez(tmp_path / "other.npz", cells=MASK)
    np.savez(tmp_path / "objects.npz", masks=np.array([None, "x"], dtype=object))
    np.savez(tmp_path / "flat.npz", masks=MASK)
    (tmp_path / "text.npz").write_text("hello")
    for name in ("other", "objects", "flat", "text"):
        with pytest.raises(ValueError, match="masks"):
            read_mask_stack(tmp_path / f"{name}.npz")
    Image.fromarray(MASK).save(tmp_path / "a.png")
    Image.fromarray(MASK[:10]).save(tmp_path / "b.png")
    with pytest.raises(ValueError, match="differ in size"):
        read_mask_stack(tmp_path)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none(bad: float, tmp_path: Path) -> None:
    pixels = np.where(MASK, bad, 1.0).astype(np.float32)
    tifffile.imwrite(tmp_path / "nan.tif", pixels)
    for read in (read_image, read_mask, read_labels, read_mask_stack):
        with pytest.raises(ValueError, match="NaN or infinite"):
            read(tmp_path / "nan.tif")


def test_other_pixels(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "complex.tif", MASK.astype(np.complex64))
    with pytest.raises(ValueError, match="complex64"):
        read_image(tmp_path / "complex.tif")
    tifffile.imwrite(tmp_path / "five.tif", np.zeros((20, 30, 5), np.uint8), photometric="rgb")
    with pytest.raises(ValueError, match="5 channels"):
        read_image(tmp_path / "five.tif")


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Stacks and single images whose loss of an end must never go unnoticed."""
    folder = tmp_path_factory.mktemp("whole")
    noise = NOISE[..., 0] > 127
    stack = np.stack([noise, ~noise, noise]).astype(np.uint8) * 255
    tifffile.imwrite(folder / "plain.tif", stack, photometric="minisblack")
    tifffile.imwrite(folder / "zlib.tif", stack, photometric="minisblack", compression="zlib")
    tifffile.imwrite(folder / "imagej.tif", stack, imagej=True)
    first, *others = [Image.fromarray(page) for page in stack]
    first.save(folder / "lzw.tif", save_all=True, append_images=others, compression="tiff_lzw")
    Image.fromarray(stack[0]).save(folder / "image.png")
    return sorted(folder.iterdir())


@given(st.data())
def test_truncated_files_are_refused_in_one_line(whole_files: list[Path], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(whole_files))
    content = path.read_bytes()
    kept = data.draw(st.integers(0, len(content) * 9 // 10))
    cut = path.with_name(f"cut{path.suffix}.part")
    cut.write_bytes(content[:kept])
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
        read_mask_stack(cut)


@given(
    st.binary(max_size=64), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0"])
)
def test_rubbish_is_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, rubbish: bytes, start: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "rubbish.png"
    path.write_bytes(start + rubbish)
    for read in (read_image, read_mask, read_labels):
        with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
            read(path)


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    for read in (read_image, read_mask, read_labels):
        with pytest.raises(FileNotFoundError, match=r"there is no file .*missing\.png"):
            read(tmp_path / "missing.png")
        with pytest.raises(ValueError, match="is a folder"):
            read(tmp_path)


@given(arrays.arrays(np.int16, arrays.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.integers(0, 6)))
def test_seeds_lie_in_their_labels(labels: NDArray[np.int16]) -> None:
    seeds = seeds_from_labels(labels)
    names = np.unique(labels[labels > 0])
    pixels = np.floor(seeds + 0.5).astype(int)
    assert np.array_equal(labels[pixels[:, 0], pixels[:, 1]], names)
    for name, seed in zip(names, seeds, strict=True):
        own = np.argwhere(labels == name)
        centroid = own.mean(axis=0)
        if labels[tuple(np.floor(centroid + 0.5).astype(int))] == name:
            np.testing.assert_allclose(seed, centroid)
        else:
            assert np.hypot(*(seed - centroid)) == pytest.approx(np.hypot(*(own - centroid).T).min())


def test_seeds_need_labels() -> None:
    assert seeds_from_labels(np.zeros((4, 4), int)).shape == (0, 2)
    with pytest.raises(ValueError, match="integers"):
        seeds_from_labels(np.zeros((4, 4)))
    with pytest.raises(ValueError, match=r"\(H, W\)"):
        seeds_from_labels(np.zeros(4, int))


def test_pages_of_a_file_are_images_of_their_own(tmp_path: Path) -> None:
    stack = np.stack([NOISE, NOISE[::-1]])
    tifffile.imwrite(tmp_path / "tiled.tif", stack, photometric="rgb", tile=(16, 16), compression="zlib")
    tifffile.imwrite(tmp_path / "first.tif", stack, photometric="rgb", truncate=True)
    pages = [Image.fromarray(page) for page in stack]
    pages[0].save(tmp_path / "lzw.tif", save_all=True, append_images=pages[1:], compression="tiff_lzw")
    with tifffile.TiffWriter(tmp_path / "reduced.tif") as file:
        for page in stack:
            file.write(page, photometric="rgb")
        file.write(NOISE[::2, ::2], photometric="rgb", subfiletype=1)
    for name in ("tiled.tif", "first.tif", "lzw.tif", "reduced.tif"):
        assert count_images(tmp_path / name) == 2, name
        assert np.array_equal(read_image(tmp_path / name, page=2), NOISE[::-1]), name
        with pytest.raises(ValueError, match=r"there is none of number 3$"):
            read_image(tmp_path / name, page=3)
        with pytest.raises(ValueError, match="more than one page"):
            read_image(tmp_path / name)


@pytest.mark.parametrize(
    ("axes", "shape", "images"),
    [("YX", (), 1), ("CYX", (3,), 1), ("ZTYX", (2, 3), 6), ("TCZYX", (2, 3, 2), 4), ("CZYX", (3, 2), 2)],
)
def test_planes_of_an_ome_tiff(axes: str, shape: tuple[int, ...], images: int, tmp_path: Path) -> None:
    values = np.arange(np.prod(shape, dtype=int), dtype=np.uint16).reshape(*shape, 1, 1) + np.zeros((20, 30), np.uint16)
    path = tmp_path / "image.ome.tif"
    tifffile.imwrite(path, values, metadata={"axes": axes}, photometric="minisblack")
    assert count_images(path) == images
    read = np.stack([read_image(path, page=page) for page in range(1, images + 1)])
    channel = axes.index("C") if "C" in axes else None
    expected = values if channel is None else np.moveaxis(values, channel, -1)
    assert np.array_equal(read, expected.reshape(read.shape))


def test_colours_and_channels_of_an_ome_tiff(tmp_path: Path) -> None:
    path = tmp_path / "image.ome.tif"
    tifffile.imwrite(path, NOISE, metadata={"axes": "YXS"})
    assert np.array_equal(read_image(path), NOISE)
    planes = np.moveaxis(NOISE, 2, 0)
    tifffile.imwrite(path, planes, metadata={"axes": "SYX"}, photometric="rgb", planarconfig="separate")
    assert np.array_equal(read_image(path), NOISE)
    tifffile.imwrite(path, planes[:2], metadata={"axes": "CYX"}, photometric="minisblack")
    with pytest.raises(ValueError, match=r"image\.ome\.tif has 2 channels; give a grey image"):
        read_image(path)
    with tifffile.TiffWriter(path) as file:
        file.write(NOISE, subifds=1, metadata={"axes": "YXS"})
        file.write(NOISE[::2, ::2], subfiletype=1)
    assert count_images(path) == 1 and np.array_equal(read_image(path), NOISE)


@pytest.mark.parametrize("name", ["a.bmp", "a.webp", "a.jp2"])
def test_other_usual_formats_are_read(name: str, tmp_path: Path) -> None:
    Image.fromarray(NOISE).save(tmp_path / name, **({"lossless": True} if name == "a.webp" else {}))
    assert np.array_equal(read_image(tmp_path / name), NOISE) and read_size(tmp_path / name) == (20, 30)


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "lzw.tif"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_that_a_camera_turned_is_turned_back(name: str, orientation: int, tmp_path: Path) -> None:
    stored = np.zeros((40, 60, 3), np.uint8)
    stored[:20, :20], stored[20:, 40:] = (250, 0, 0), (0, 0, 250)
    if name == "a.tif":
        tifffile.imwrite(tmp_path / name, stored, extratags=[(274, "H", 1, orientation, True)])
    else:
        exif = Image.Exif()
        exif[274] = orientation
        more = {"compression": "tiff_lzw"} if name == "lzw.tif" else {}
        Image.fromarray(stored).save(tmp_path / name, exif=exif, **more)
    with Image.open(tmp_path / name) as file:
        upright = np.array(ImageOps.exif_transpose(file))
    found = read_image(tmp_path / name)
    assert found.shape == upright.shape and read_size(tmp_path / name) == upright.shape[:2]
    assert np.abs(found.astype(int) - upright).mean() < 1


def described(path: Path, old: str, new: str) -> Path:
    """An OME-TIFF of two planes, with another text in its description."""
    tifffile.imwrite(path, np.zeros((2, 8, 8), np.uint8), photometric="minisblack", ome=True, metadata={"axes": "ZYX"})
    with tifffile.TiffFile(path) as file:
        text = file.ome_metadata
    assert old in text
    tifffile.tiffcomment(path, text.replace(old, new).encode())
    return path


def test_a_description_of_more_planes_than_pages_is_refused(tmp_path: Path) -> None:
    path = described(tmp_path / "a.ome.tif", 'SizeZ="2"', 'SizeZ="2000000000"')
    with pytest.raises(ValueError, match="tells of 2000000000 planes, but its pages are 2"):
        count_images(path)


def test_no_other_file_is_opened_for_a_description_that_names_it(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "other.tif", np.ones((2, 8, 8), np.uint8), photometric="minisblack")
    (tmp_path / "in").mkdir()
    plane = '<TiffData IFD="0" PlaneCount="2"><UUID FileName="../other.tif">urn:uuid:1</UUID></TiffData>'
    path = described(tmp_path / "in" / "a.ome.tif", '<TiffData IFD="0" PlaneCount="2"/>', plane)
    with pytest.raises(ValueError, match=r"planes in another file \(\.\./other\.tif\), which is not opened"):
        count_images(path)


@pytest.mark.parametrize("page", [0, -1])
def test_pages_are_counted_from_1(page: int, tmp_path: Path) -> None:
    Image.new("L", (4, 4)).save(tmp_path / "a.png")
    with pytest.raises(ValueError, match="counted from 1"):
        read_image(tmp_path / "a.png", page=page)


def test_sizes_are_read_without_the_picture(tmp_path: Path) -> None:
    Image.new("L", (7, 4)).save(tmp_path / "a.png")
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((3, 8, 9), np.uint8), photometric="minisblack")
    assert read_size(tmp_path / "a.png") == (4, 7) and read_size(tmp_path / "a.tif", page=3) == (8, 9)
    with pytest.raises(ValueError, match="there is none of number 4"):
        read_size(tmp_path / "a.tif", page=4)


@pytest.mark.parametrize("name", ["a.tif", "a.png"])
def test_more_pixels_than_can_be_read_at_once_are_refused_before_they_are_read(name: str, tmp_path: Path) -> None:
    if name == "a.tif":
        blank = (np.zeros((1024, 1024), np.uint8) for _ in range(256))
        tifffile.imwrite(
            tmp_path / name, blank, shape=(16384, 16384), dtype=np.uint8, tile=(1024, 1024), compression="zlib"
        )
    else:
        Image.new("1", (16384, 16384)).save(tmp_path / name)
    with pytest.raises(ValueError, match=r"a\.(png|tif) has .* divide it.* 'declump slide'"):
        read_image(tmp_path / name)
