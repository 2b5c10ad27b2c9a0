# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python package; compares with Pillow."""

import ctypes
import ctypes.util
import gc
import hashlib
import io
import multiprocessing
import os
import pathlib
import threading

import numpy
import PIL.Image
import pytest

import calotype
import calotype.pillow


def picture(width=320, height=200, mode="RGB"):
    """A smooth image, which every decoder reduces to nearly the same pixels."""
    y, x = numpy.mgrid[0:height, 0:width]
    channels = [x * 255 // width, y * 255 // height, (x + y) * 255 // (width + height), 255 - x * 200 // width]
    array = numpy.stack(channels[:len(mode)], axis=-1).astype(numpy.uint8)
    return PIL.Image.fromarray(array if len(mode) > 1 else array[:, :, 0])


@pytest.fixture
def photograph(tmp_path):
    path = tmp_path / "photograph.jpg"
    picture().save(path, quality=95, exif=b"Exif\0\0" + bytes.fromhex("49492a00080000000000 00000000"))
    return path


@pytest.fixture
def drawing(tmp_path):
    path = tmp_path / "drawing.png"
    picture(mode="RGBA").save(path)
    return path


def test_header_is_that_of_the_file(photograph):
    source = calotype.open(photograph)
    assert (source.size, source.format, source.has_alpha) == ((320, 200), "jpeg", False)
    assert (source.page_count, source.frame_count, source.bits_per_sample) == (1, 1, 8)
    with pytest.raises(AttributeError, match="has no attribute 'title'"):
        source.title


def test_paths_descriptors_files_and_bytes_give_the_same_pixels(photograph):
    expected = numpy.asarray(calotype.open(photograph).decode())
    with open(photograph, "rb") as file:
        sources = [calotype.open(os.fsencode(photograph)), calotype.open(file.fileno()), calotype.open(file)]
    sources.append(calotype.open_bytes(bytearray(photograph.read_bytes())))
    for source in sources:
        assert numpy.array_equal(numpy.asarray(source.decode()), expected)


def test_pixels_of_a_lossless_file_equal_those_of_pillow(drawing):
    decoded = calotype.open(drawing).decode("RGB")
    opaque = calotype.open(drawing).decode()
    straight = numpy.asarray(PIL.Image.open(drawing)).astype(int)
    premultiplied = (straight[:, :, :3] * straight[:, :, 3:] + 127) // 255
    assert numpy.abs(numpy.asarray(opaque)[:, :, :3] - premultiplied).max() <= 1
    assert decoded.shape == (200, 320, 3)


def test_thumbnail_resembles_that_of_pillow(photograph):
    array = numpy.asarray(calotype.open(photograph).thumbnail((80, 80)))
    expected = PIL.Image.open(photograph).resize((80, 50), PIL.Image.Resampling.LANCZOS)
    assert array.shape == (50, 80, 3)
    assert numpy.abs(array.astype(int) - numpy.asarray(expected)).max() <= 3


@pytest.mark.parametrize("mode, shape, depth", [
    ("L", (40, 60), 1), ("RGB", (40, 60, 3), 1), ("RGBA", (40, 60, 4), 1), ("L;16", (40, 60), 2),
    ("RGB;16", (40, 60, 3), 2)])
def test_modes_determine_the_shape(photograph, mode, shape, depth):
    image = calotype.open(photograph).thumbnail((60, 40), mode=mode, fit="fill")
    assert (image.shape, image.size) == (shape, (60, 40))
    assert numpy.asarray(image).dtype == (numpy.uint8 if depth == 1 else numpy.uint16)


def test_half_chroma_keeps_lightness(photograph, drawing):
    source = calotype.open(photograph)
    exact, half = (numpy.asarray(source.thumbnail((80, 80), half_chroma=value)) for value in (False, True))
    assert half.shape == exact.shape
    assert not numpy.array_equal(half, exact)
    assert numpy.abs(half.astype(int) - exact).max() <= 12
    for mode in ("L", "RGBA", "RGB;16"):
        image = source.thumbnail((80, 80), mode=mode, half_chroma=True)
        assert image.shape == source.thumbnail((80, 80), mode=mode).shape
    drawings = [calotype.open(drawing).thumbnail((80, 80), half_chroma=value) for value in (False, True)]
    assert numpy.array_equal(*map(numpy.asarray, drawings))


def turbo_planes(data, width, height):
    """The planes that libjpeg-turbo decodes a JPEG file of 4:2:0 to."""
    name = ctypes.util.find_library("turbojpeg")
    if not name:
        pytest.skip("libturbojpeg is not installed")
    library = ctypes.CDLL(name)
    library.tjInitDecompress.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(library.tjInitDecompress())
    half = (height + 1) // 2, (width + 1) // 2
    # The library pads luma to whole samples of chroma.
    planes = [numpy.zeros(shape, numpy.uint8) for shape in ((2 * half[0], 2 * half[1]), half, half)]
    addresses = (ctypes.c_void_p * 3)(*(plane.ctypes.data for plane in planes))
    status = library.tjDecompressToYUVPlanes(
        handle, data, ctypes.c_ulong(len(data)), addresses, width, None, height, 0)
    library.tjDestroy(handle)
    assert status == 0
    return [planes[0][:height, :width], *planes[1:]]


@pytest.mark.parametrize("size, reduced", [((320, 200), (320, 200)), ((320, 200), (160, 100)), ((37, 21), (37, 21))])
def test_planes_equal_those_of_libjpeg_turbo(tmp_path, size, reduced):
    path = tmp_path / "planes.jpg"
    picture(*size).save(path, quality=90, subsampling="4:2:0")
    planes = calotype.open(path).planes(reduced)
    for index, (plane, expected) in enumerate(zip(planes, turbo_planes(path.read_bytes(), *size), strict=True)):
        expected = PIL.Image.fromarray(expected).resize(plane.size, PIL.Image.Resampling.LANCZOS)
        difference = numpy.abs(numpy.asarray(plane).astype(int) - numpy.asarray(expected))
        # At the size of the file, chroma is upsampled and converted to RGB in between.
        assert difference.max() <= (3 if index else 2)
        assert difference.mean() < 0.6


def test_planes_of_other_files_are_converted(drawing):
    luma, *chroma = calotype.open(drawing).planes((80, 80))
    expected = numpy.asarray(calotype.open(drawing).thumbnail((80, 80), mode="RGB").pil().convert("YCbCr"))
    assert (luma.shape, chroma[0].shape) == ((50, 80), (25, 40))
    assert numpy.abs(numpy.asarray(luma).astype(int) - expected[:, :, 0]).max() <= 1
    for channel, plane in enumerate(chroma, 1):
        means = expected[:, :, channel].reshape(25, 2, 40, 2).mean(axis=(1, 3))
        assert numpy.abs(numpy.asarray(plane) - means).max() <= 1.5


def test_planes_keep_their_memory(photograph):
    planes = calotype.open(photograph).planes((90, 90), region=(10, 10, 200, 100), fit="exact")
    addresses = [plane.address for plane in planes]
    assert addresses == sorted(addresses)
    last = numpy.asarray(planes[2])
    copy = last.copy()
    del planes
    gc.collect()
    assert numpy.array_equal(last, copy)
    assert last.ctypes.data == addresses[2]


def test_region_is_a_part_of_the_image(drawing):
    whole = numpy.asarray(calotype.open(drawing).decode())
    part = calotype.open(drawing).thumbnail((0, 0), region=(50, 20, 30, 10))
    assert numpy.array_equal(numpy.asarray(part), whole[20:30, 50:80])


def test_consumers_share_the_memory_of_the_decoder(photograph):
    image = calotype.open(photograph).thumbnail((100, 100))
    views = [
        numpy.asarray(image), numpy.asarray(memoryview(image)),
        numpy.from_dlpack(image), numpy.asarray(type("Interface", (), {
            "__array_interface__": image.__array_interface__})())]
    for view in views:
        assert view.ctypes.data == image.address
        assert (view.shape, view.strides) == (image.shape, image.strides)
    assert not views[0].flags.writeable
    copy = views[0].copy()
    del image
    gc.collect()
    assert numpy.array_equal(views[2], copy)


def test_memory_is_freed_with_the_last_view(photograph):
    source = calotype.open(photograph)

    def resident():
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def decode():
        # 4000x2500 pixels: 30 MB.
        image = source.thumbnail((4000, 2500), enlarge=True)
        return numpy.asarray(image), numpy.from_dlpack(image)

    decode()
    gc.collect()
    before = resident()
    for _ in range(20):
        decode()
    # The allocator may keep the memory of the last image.
    assert resident() - before < 70_000_000


def test_dlpack_capsule_without_a_consumer_frees_its_image(photograph):
    image = calotype.open(photograph).decode()
    for version in (None, (1, 0)):
        capsule = image.__dlpack__(max_version=version)
        assert "dltensor" in repr(capsule)
        del capsule
    assert image.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        image.__dlpack__(copy=True)


def test_buffer_refuses_what_it_cannot_provide(photograph):
    image = calotype.open(photograph).thumbnail((33, 33), mode="RGB")
    with pytest.raises(BufferError, match="padded"):
        hashlib.sha256(image)
    with pytest.raises((BufferError, TypeError)):
        io.BytesIO(b"1234").readinto(image)


def test_pillow_image_has_the_same_pixels(photograph, drawing):
    image = calotype.open(photograph).thumbnail((33, 33))
    assert numpy.array_equal(numpy.asarray(image.pil()), numpy.asarray(image))
    assert calotype.open(photograph).thumbnail((33, 33), mode="L").pil().mode == "L"
    transparent = calotype.open(drawing).decode().pil()
    assert transparent.mode == "RGBA"
    difference = numpy.abs(numpy.asarray(transparent).astype(int) - numpy.asarray(PIL.Image.open(drawing)))
    assert difference.max() <= 3


def test_encoding_writes_what_pillow_reads(photograph):
    source = calotype.open(photograph)
    file = source.encode_thumbnail((64, 64), "jpeg", quality=90)
    assert PIL.Image.open(io.BytesIO(file)).size == (64, 40)
    image = source.thumbnail((64, 64))
    assert numpy.array_equal(
        numpy.asarray(PIL.Image.open(io.BytesIO(image.encode("png")))), numpy.asarray(image))


def test_errors_are_typed_and_name_the_file(tmp_path, photograph):
    cases = {
        "missing.jpg": (None, calotype.FileAccessError), "empty.jpg": (b"", calotype.UnknownFormatError),
        "text.jpg": (b"not an image", calotype.UnknownFormatError),
        "damaged.png": (b"\x89PNG\r\n\x1a\n" + bytes(40), calotype.DamagedFileError)}
    for name, (content, error) in cases.items():
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(error, match=name):
            calotype.open(path)
    with pytest.raises(calotype.LimitExceededError, match="limit side exceeded: 320 needed, 100 allowed"):
        calotype.open(photograph, limits=calotype.Limits(side=100))
    with pytest.raises(calotype.UnsupportedError):
        calotype.open(photograph).decode(page=5)
    with pytest.raises(calotype.InvalidArgumentError):
        calotype.open(photograph).thumbnail((10, 0), fit="fill")
    for size in ((2**40, 1), (-1, 5)):
        with pytest.raises(ValueError, match="invalid number"):
            calotype.open(photograph).thumbnail(size)


def test_batch_keeps_the_order(tmp_path):
    paths = []
    for index in range(40):
        path = tmp_path / f"{index}.png"
        picture(20 + index, 30).save(path)
        paths.append(path)
    sizes = [image.size for image in calotype.batch(paths, (100, 100), workers=3)]
    assert sizes == [(20 + index, 30) for index in range(40)]


def test_batch_bounds_the_images_in_memory(photograph):
    taken = 0

    def paths():
        nonlocal taken
        while True:
            taken += 1
            yield photograph

    images = calotype.batch(paths(), (50, 50), workers=2)
    for _ in range(3):
        next(images)
    assert taken <= 3 + 2 * 2
    images.close()


def test_batch_raises_or_returns_errors(photograph):
    paths = [photograph, "/nonexistent", photograph]
    results = list(calotype.batch(paths, (50, 50), workers=2, errors="return"))
    assert [type(result) for result in results] == [
        calotype.Image, calotype.FileAccessError, calotype.Image]
    with pytest.raises(calotype.FileAccessError):
        list(calotype.batch(paths, (50, 50), workers=2))


def test_threads_share_a_source(photograph):
    source = calotype.open(photograph)
    expected = numpy.asarray(source.thumbnail((90, 90)))
    results = []

    def work():
        results.extend(numpy.array_equal(numpy.asarray(source.thumbnail((90, 90))), expected) for _ in range(10))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 40


def _sum_in_child(path):
    return int(numpy.asarray(calotype.open(path).thumbnail((90, 90))).sum())


def test_forked_children_decode(photograph):
    expected = _sum_in_child(photograph)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_sum_in_child, [photograph] * 6) == [expected] * 6


def test_pillow_opens_jpeg_with_a_draft(photograph, tmp_path):
    identifiers, opener = list(PIL.Image.ID), dict(PIL.Image.OPEN)
    try:
        calotype.pillow.register(("JPEG",))
        image = PIL.Image.open(photograph)
        assert (type(image).__name__, image.size, image.mode) == ("JPEGImageFile", (320, 200), "RGB")
        image.thumbnail((40, 40))
        assert image.size == (40, 25)
        with PIL.Image.open(photograph) as other:
            other.draft("L", (100, 50))
            assert (other.size, other.mode, other.getpixel((5, 5)) < 80) == ((100, 62), "L", True)
        # Pillow still encodes JPEG files.
        path = tmp_path / "saved.jpg"
        image.save(path)
        with PIL.Image.open(path) as saved:
            assert saved.size == (40, 25)
    finally:
        PIL.Image.ID[:] = identifiers
        PIL.Image.OPEN.clear()
        PIL.Image.OPEN.update(opener)


CORPUS = pathlib.Path(__file__).parents[2] / "Corpus"


def test_valid_files_decode_at_the_size_of_their_header():
    count = 0
    for path in sorted(CORPUS.glob("*/valid/*")):
        try:
            source = calotype.open(path)
        except calotype.UnsupportedError:
            # A format without its trait.
            continue
        assert source.decode("RGB").size == source.size, path
        count += 1
    assert count > 50


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/invalid/*")), ids=lambda path: path.name)
def test_invalid_files_raise_typed_errors_with_their_names(path):
    with pytest.raises(calotype.CalotypeError) as raised:
        calotype.open(path).decode(accept_truncated=False)
    assert str(path) in str(raised.value)


def test_pillow_opens_jpeg_xl_and_heic():
    identifiers, opener = list(PIL.Image.ID), dict(PIL.Image.OPEN)
    try:
        calotype.pillow.register()
        for name in ("JXL", "HEIF"):
            folder = {"JXL": "jpegxl", "HEIF": "heif"}[name]
            paths = [path for path in sorted((CORPUS / folder / "valid").iterdir())
                     if not path.name.endswith((".avif", ".json"))]
            assert paths
            for path in paths:
                with PIL.Image.open(path) as image:
                    assert image.format == name, path
                    image.load()
                    assert image.size == calotype.open(path).size
    finally:
        PIL.Image.ID[:] = identifiers
        PIL.Image.OPEN.clear()
        PIL.Image.OPEN.update(opener)
