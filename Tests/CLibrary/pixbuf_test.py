# SPDX-License-Identifier: Apache-2.0
"""Tests of the loaders of GdkPixbuf: pixbuf_test.py CORPUS PYTHON, with GDK_PIXBUF_MODULE_FILE set to their cache.

Runs in Debian's Python, whose package python3-gi has the bindings of GdkPixbuf. PYTHON has Pillow with pillow-heif, with
which pixels are compared.
"""

import pathlib
import subprocess
import sys

import gi

gi.require_version("GdkPixbuf", "2.0")
from gi.repository import GdkPixbuf, GLib  # noqa: E402

CORPUS = pathlib.Path(sys.argv[1])
PYTHON = sys.argv[2]
FILES = {
    "avif": "avif/valid/*.avif", "heif": "heif/valid/*.heic", "jxl": "jpegxl/valid/*.jxl", "webp": "webp/valid/*.webp",
    "jpeg2000": "jpeg2000/valid/*.j*"}


def with_pillow(program, *arguments):
    """The standard output of a program that uses Pillow."""
    imports = "import sys\nimport pillow_heif\nfrom PIL import Image, ImageOps\npillow_heif.register_heif_opener()\n"
    return subprocess.run([PYTHON, "-c", imports + program, *arguments], stdout=subprocess.PIPE, check=True).stdout


def files(name):
    found = sorted(CORPUS.glob(FILES[name]))
    assert found, name
    return found


def test_formats_are_those_of_the_modules():
    licenses = {entry.get_name(): entry.get_license() for entry in GdkPixbuf.Pixbuf.get_formats()}
    for name in FILES:
        assert licenses.get(name) == "Apache-2.0", (name, licenses)


def test_sizes_are_known_without_decoding():
    for name in FILES:
        for path in files(name):
            entry, width, height = GdkPixbuf.Pixbuf.get_file_info(str(path))
            assert (entry.get_name(), entry.get_license()) == (name, "Apache-2.0"), path
            pixbuf = GdkPixbuf.Pixbuf.new_from_file(str(path))
            assert (pixbuf.get_width(), pixbuf.get_height()) == (width, height), path


def test_image_has_the_size_that_is_set():
    for name in FILES:
        for path in files(name):
            loader = GdkPixbuf.PixbufLoader.new()
            sizes = []

            def size_prepared(loader, width, height, sizes=sizes):
                sizes.append((width, height))
                loader.set_size(33, 21)

            loader.connect("size-prepared", size_prepared)
            data = path.read_bytes()
            for start in range(0, len(data), 1000):
                loader.write(data[start:start + 1000])
            loader.close()
            pixbuf = loader.get_pixbuf()
            assert len(sizes) == 1, path
            assert (pixbuf.get_width(), pixbuf.get_height()) == (33, 21), path


def test_header_of_a_large_file_needs_its_first_bytes():
    """The size is reported long before the end."""
    data = with_pillow(
        "image = Image.effect_noise((1500, 1000), 200).convert('RGB')\n"
        "image.save(sys.stdout.buffer, 'webp', lossless=True, method=0)\n")
    assert len(data) > 500_000
    loader = GdkPixbuf.PixbufLoader.new()
    sizes = []
    loader.connect("size-prepared", lambda loader, width, height: sizes.append((width, height)))
    loader.write(data[:8192])
    assert sizes == [(1500, 1000)]
    loader.write(data[8192:])
    loader.close()
    assert loader.get_pixbuf().get_width() == 1500


def loaded(data):
    """The image of a file; None after an error of GdkPixbuf."""
    loader = GdkPixbuf.PixbufLoader.new()
    try:
        loader.write(data)
    except GLib.Error:
        return None
    try:
        loader.close()
    except GLib.Error:
        return None
    return loader.get_pixbuf()


def test_damaged_files_are_errors_or_images():
    errors = 0
    for name in FILES:
        for path in files(name):
            data = path.read_bytes()
            for length in range(0, len(data), max(1, len(data) // 7)):
                errors += loaded(data[:length]) is None
                loaded(data[:length] + b"\xff" * 8 + data[length + 8:])
    assert errors > 50


def test_invalid_files_are_errors():
    paths = sorted(CORPUS.glob("webp/invalid/*"))
    assert paths
    for path in paths:
        try:
            GdkPixbuf.Pixbuf.new_from_file(str(path))
        except GLib.Error as error:
            assert error.message, path
            continue
        raise AssertionError(f"no error for {path}")
    for data in (b"", b"\xff\x4f\xff\x51", b"\xff\x0a", b"RIFF\0\0\0\0WEBPVP8 ", b"\0\0\0\x18ftypavif" + bytes(40)):
        assert loaded(data) is None, data


def test_alpha_is_not_premultiplied():
    transparent = 0
    for path in files("webp"):
        pixbuf = GdkPixbuf.Pixbuf.new_from_file(str(path))
        if not pixbuf.get_has_alpha():
            continue
        pixels = pixbuf.get_pixels()
        stride, width = pixbuf.get_rowstride(), pixbuf.get_width()
        for y in range(pixbuf.get_height()):
            for x in range(width):
                red, green, blue, alpha = pixels[y * stride + 4 * x:y * stride + 4 * x + 4]
                transparent += alpha < 128 and max(red, green, blue) > alpha
    assert transparent > 0


def test_pixels_equal_those_of_pillow():
    compared = 0
    for name in ("webp", "heif"):
        for path in files(name):
            expected = with_pillow(
                "image = ImageOps.exif_transpose(Image.open(sys.argv[1])).convert('RGBA')\n"
                "sys.stdout.buffer.write(image.tobytes())", str(path))
            pixbuf = GdkPixbuf.Pixbuf.new_from_file(str(path))
            if not pixbuf.get_has_alpha():
                pixbuf = pixbuf.add_alpha(False, 0, 0, 0)
            pixels, width, height = pixbuf.get_pixels(), pixbuf.get_width(), pixbuf.get_height()
            assert len(expected) == len(pixels) == width * height * 4, path
            # Colours of transparent pixels are not compared: they were multiplied by alpha.
            differences = [abs(a - b) * alpha for i, alpha in enumerate(expected[3::4]) for a, b in zip(
                pixels[4 * i:4 * i + 4], expected[4 * i:4 * i + 4])]
            assert sum(differences) / len(differences) < 255, path
            compared += 1
    assert compared > 5


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        test()
    print(f"All {len(tests)} tests of the loaders of GdkPixbuf passed.")


main()
