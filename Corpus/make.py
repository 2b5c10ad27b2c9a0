# SPDX-License-Identifier: Apache-2.0
"""Makes the sample files of this folder again.

Needs pypng, Pillow, libjpeg-turbo's cjpeg and libjxl's cjxl.

One small picture of our own, 37 by 29 pixels, in every form that the formats allow.
"""

import io
import pathlib
import struct
import subprocess

import png
from PIL import Image, ImageCms

here = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 37, 29


def sample(x, y, channel, maximum):
    value = (x * (channel * 3 + 5) + y * (11 - channel * 2)) % (2 * maximum + 1)
    return value if value <= maximum else 2 * maximum - value


def rows(channels, depth):
    top = (1 << depth) - 1
    return [
        [sample(x, y, c, top) for x in range(WIDTH) for c in range(channels)]
        for y in range(HEIGHT)
    ]


def write_png(name, channels, depth, **options):
    with open(here / f"png/valid/{name}.png", "wb") as file:
        writer = png.Writer(WIDTH, HEIGHT, bitdepth=depth, **options)
        writer.write(file, rows(channels, depth))


for interlace in (False, True):
    suffix = "-interlaced" if interlace else ""
    for depth in (1, 2, 4, 8, 16):
        write_png(f"gray-{depth}{suffix}", 1, depth, greyscale=True, interlace=interlace)
    for depth in (1, 2, 4, 8):
        palette = [
            (i * 37 % 256, i * 91 % 256, i * 53 % 256, 255 - i * 40 % 256)
            for i in range(1 << depth)
        ]
        write_png(f"palette-{depth}{suffix}", 1, depth, palette=palette, interlace=interlace)
    for depth in (8, 16):
        write_png(f"rgb-{depth}{suffix}", 3, depth, greyscale=False, interlace=interlace)
        write_png(
            f"rgba-{depth}{suffix}", 4, depth, greyscale=False, alpha=True, interlace=interlace
        )
        write_png(
            f"gray-alpha-{depth}{suffix}", 2, depth, greyscale=True, alpha=True,
            interlace=interlace,
        )
write_png("gray-8-transparent", 1, 8, greyscale=True, transparent=10)
write_png("rgb-8-transparent", 3, 8, greyscale=False, transparent=(5, 11, 17))
write_png("rgb-8-gamma", 3, 8, greyscale=False, gamma=0.7)

for path in sorted((here / "png/valid").glob("rgb-8.png")):
    data = path.read_bytes()
    (here / "png/invalid/checksum.png").write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
    (here / "png/invalid/no-data.png").write_bytes(data[:33] + data[-12:])

ppm = b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + bytes(sum(rows(3, 8), []))
for name, arguments in {
    "baseline-420": [],
    "baseline-444": ["-sample", "1x1"],
    "baseline-422": ["-sample", "2x1"],
    "baseline-440": ["-sample", "1x2"],
    "baseline-411": ["-sample", "4x1"],
    "odd-sampling": ["-sample", "2x2,2x1,1x2"],
    "restart": ["-restart", "1"],
    "progressive": ["-progressive"],
    "progressive-restart": ["-progressive", "-restart", "1"],
    "arithmetic": ["-arithmetic"],
    "arithmetic-progressive": ["-arithmetic", "-progressive"],
    "gray": ["-grayscale"],
    "rgb": ["-rgb"],
}.items():
    made = subprocess.run(["cjpeg", "-quality", "85", *arguments], input=ppm, stdout=-1, check=True)
    (here / f"jpeg/valid/{name}.jpg").write_bytes(made.stdout)
inks = Image.frombytes("CMYK", (WIDTH, HEIGHT), bytes(sum(rows(4, 8), [])))
inks.save(here / "jpeg/valid/cmyk.jpg", quality=90)

whole = (here / "jpeg/valid/baseline-420.jpg").read_bytes()
(here / "jpeg/invalid/no-scan.jpg").write_bytes(whole[:2] + whole[-2:])
frame = whole.index(b"\xff\xc0")
(here / "jpeg/invalid/zero-width.jpg").write_bytes(whole[: frame + 7] + b"\0\0" + whole[frame + 9 :])


# Files that once did harm: they have to be answered somehow, with a picture or an error.
# JPEG segments have a marker, a length that counts itself, and a body.
def segment(marker, body):
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + bytes(body)


def huffman_table(place, symbols_by_length):
    counts = [len(symbols_by_length.get(length, [])) for length in range(1, 17)]
    symbols = [s for length in range(1, 17) for s in symbols_by_length.get(length, [])]
    return segment(0xC4, [place] + counts + symbols)


def jpeg_of_zeros():
    """Ten blocks of mostly zero bits; whoever starts to read in the middle of the data finds nine
    blocks in the last 27 bits of the fifth, and then comes upon the sixth."""

    def block(large, small=0):
        # A DC difference of no bits; codes of 16 bits, with 15 or 14 behind; the end of the block.
        bits = "0" + ("0100000000000000" + "0" * 15) * large
        bits += ("0100000000000001" + "0" * 14) * small
        return bits + ("00" if large + small < 63 else "")

    bits = block(61, 2) + block(63) * 3 + block(62) + block(63) * 4 + block(60)
    bits += "1" * (-len(bits) % 8)
    data = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    return (
        b"\xff\xd8"
        + segment(0xDB, [0] + [1] * 64)
        + segment(0xC0, [8, 0, 8, 0, 80, 1, 1, 0x11, 0])
        + huffman_table(0x00, {1: [0]})
        + huffman_table(0x10, {2: [0], 16: [15, 14]})
        + segment(0xDA, [1, 1, 0, 0, 63, 0])
        + data.replace(b"\xff", b"\xff\x00")
        + b"\xff\xd9"
    )


hostile = here / "jpeg/hostile"
hostile.mkdir(exist_ok=True)
(hostile / "blocks-of-zeros.jpg").write_bytes(jpeg_of_zeros())

progressive = (here / "jpeg/valid/progressive.jpg").read_bytes()
jfif_end = 4 + int.from_bytes(progressive[4:6], "big")
second_scan = progressive.index(b"\xff\xda", progressive.index(b"\xff\xda") + 2)
(hostile / "colours-change.jpg").write_bytes(
    progressive[:2]
    + progressive[jfif_end:second_scan]
    + segment(0xEE, b"Adobe" + bytes([0, 100, 0, 0, 0, 0, 0]))
    + progressive[second_scan:]
)


# JPEG 2000: what Pillow can write, and colour differences of a quarter of the samples.
def pillow_picture(mode):
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "I;16": 1}[mode]
    if mode == "I;16":
        data = b"".join(v.to_bytes(2, "little") for row in rows(1, 16) for v in row)
    else:
        data = bytes(sum(rows(channels, 8), []))
    return Image.frombytes(mode, (WIDTH, HEIGHT), data)


folder = here / "jpeg2000/valid"
folder.mkdir(parents=True, exist_ok=True)
for name, mode, options in [
    ("gray", "L", {}),
    ("gray-16", "I;16", {}),
    ("gray-alpha", "LA", {}),
    ("rgb", "RGB", {}),
    ("rgba", "RGBA", {}),
    ("tiles", "RGB", {"tile_size": (16, 16), "num_resolutions": 3}),
    ("tiles-offset", "RGB", {"tile_size": (16, 16), "num_resolutions": 2, "offset": (5, 3)}),
    ("irreversible", "RGB", {"irreversible": True, "quality_mode": "dB", "quality_layers": [50]}),
    ("layers", "RGB", {"quality_mode": "rates", "quality_layers": [8, 4, 1]}),
    ("precincts", "RGB", {"precinct_size": (16, 16), "progression": "RPCL"}),
]:
    pillow_picture(mode).save(folder / f"{name}.jp2", **options)
pillow_picture("RGB").save(folder / "codestream.j2k", no_jp2=True)
# BMP: what Pillow writes, and by hand what it does not.
(here / "bmp/valid").mkdir(parents=True, exist_ok=True)
color = Image.frombytes("RGB", (WIDTH, HEIGHT), bytes(sum(rows(3, 8), [])))
alpha = Image.frombytes("RGBA", (WIDTH, HEIGHT), bytes(sum(rows(4, 8), [])))
for name, image in {
    "gray-1": color.convert("1"),
    "gray-8": color.convert("L"),
    "palette-8": color.quantize(100),
    "rgb-24": color,
    "rgba-32": alpha,
}.items():
    image.save(here / f"bmp/valid/{name}.bmp")


def bmp(name, size, depth, compression, pixels, palette=(), header=40, masks=b"", extra=b""):
    body = struct.pack(
        "<IiiHHIIiiII", header, *size, 1, depth, compression, len(pixels), 0, 0, len(palette), 0
    )
    if header == 12:
        body = struct.pack("<IHHHH", 12, *size, 1, depth)
    body = (body + extra).ljust(header, b"\0") + masks
    for red, green, blue in palette:
        body += bytes([blue, green, red]) + (b"" if header == 12 else b"\0")
    offset = 14 + len(body)
    data = struct.pack("<2sIII", b"BM", offset + len(pixels), 0, offset) + body + pixels
    (here / f"bmp/valid/{name}.bmp").write_bytes(data)


palette = [(i * 37 % 256, i * 91 % 256, i * 53 % 256) for i in range(16)]
runs8 = bytes([3, 1, 5, 2, 0, 0, 0, 3, 7, 8, 9, 0, 0, 2, 2, 1, 2, 4, 0, 0, 8, 15, 0, 1])
bmp("rle8-skips", (8, 5), 8, 1, runs8, palette)
runs4 = bytes([5, 0x12, 3, 0x34, 0, 0, 0, 5, 0x78, 0x9A, 0xB0, 0, 3, 0xCD, 0, 0, 8, 0xEF, 0, 1])
bmp("rle4", (8, 3), 4, 2, runs4, palette)
runs24 = bytes([4, 1, 2, 3, 4, 9, 8, 7, 0, 0, 0, 3] + list(range(9)) + [0, 5, 50, 60, 70, 0, 1])
bmp("rle24", (8, 2), 24, 4, runs24, header=64)
small = bytes([0x12, 0x30, 0, 0, 0x45, 0x60, 0, 0])
bmp("os2-4", (3, 2), 4, 0, small, palette, header=12)
bmp("os2-16-4", (3, 2), 4, 0, small, palette, header=16)
bmp("palette-2", (3, 2), 2, 0, bytes([0b00011000, 0, 0, 0, 0b11100100, 0, 0, 0]), palette[:4])
words = struct.pack("<12H", *[i * 5461 % 65536 for i in range(12)])
bmp("rgb-565-down", (4, -3), 16, 3, words, masks=struct.pack("<3I", 0xF800, 0x7E0, 0x1F))
bmp("rgb-555", (4, 3), 16, 0, words)
longs = struct.pack("<12I", *[i * 390451572 % (1 << 32) for i in range(12)])
wide = struct.pack("<4I", 0x3FF, 0xFFC00, 0x3FF00000, 0xC0000000)
bmp("rgba-1010102", (4, 3), 32, 6, longs, masks=wide)
bmp("linear-64", (3, 2), 64, 0, struct.pack("<24h", *[i * 397 - 99 for i in range(24)]))
profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
profile = profile[:24] + bytes(12) + profile[36:]  # the time of day
version5 = struct.pack("<16x4s48xIIII", b"DEBM", 4, 124 + 12, len(profile), 0)
bmp("profile", (3, 1), 24, 0, bytes(range(12)) + profile, header=124, extra=version5)

# Icons of several sizes, as Pillow writes them.
(here / "ico/valid").mkdir(parents=True, exist_ok=True)
square = Image.new("RGBA", (32, 32))
square.putdata([
    tuple(sample(x, y, c, 255) for c in range(3)) + (min(255, x * 12),)
    for y in range(32) for x in range(32)
])
for kind in ("bmp", "png"):
    square.save(
        here / f"ico/valid/three-{kind}.ico", sizes=[(16, 16), (24, 24), (32, 32)],
        bitmap_format=kind,
    )


def dib(depth, palette, pixels, mask):
    """A bitmap of 8 by 2 pixels with a mask."""
    head = struct.pack("<IiiHHIIiiII", 40, 8, 4, 1, depth, 0, 0, 0, 0, len(palette), 0)
    colors = b"".join(bytes([b, g, r, 0]) for r, g, b in palette)
    return head + colors + pixels + mask


def icon(name, kind, entries):
    data = struct.pack("<HHH", 0, kind, len(entries))
    offset = 6 + 16 * len(entries)
    for entry, spot in entries:
        data += struct.pack("<BBBBHHII", 8, 2, 0, 0, *spot, len(entry), offset)
        offset += len(entry)
    data += b"".join(entry for entry, _ in entries)
    folder = here / ("ico/valid" if kind == 1 else "cur/valid")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


mask = bytes([0b10000001, 0, 0, 0, 0b00001111, 0, 0, 0])
depths = {
    1: (palette[1:3], bytes([0b01100110, 0, 0, 0, 0b11110000, 0, 0, 0])),
    4: (palette, bytes([0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF])),
    8: (palette, bytes(range(16))),
    24: ([], bytes(i * 5 for i in range(48))),
    32: ([], bytes(0 if i % 4 == 3 else i * 4 for i in range(64))),
}
for depth, (colors, pixels) in depths.items():
    icon(f"mask-{depth}.ico", 1, [(dib(depth, colors, pixels, mask), (1, depth))])
icon("two.cur", 2, [(dib(d, *depths[d], mask), (3, 1)) for d in (1, 8)])


# TIFF: every compression that Pillow can write, and what it cannot, by hand.
folder = here / "tiff/valid"
folder.mkdir(parents=True, exist_ok=True)
for name, mode, options in [
    ("none", "RGB", {}),
    ("lzw", "RGB", {"compression": "tiff_lzw"}),
    ("deflate", "RGB", {"compression": "tiff_adobe_deflate"}),
    ("deflate-16", "I;16", {"compression": "tiff_adobe_deflate"}),
    ("packbits", "L", {"compression": "packbits"}),
    ("jpeg", "RGB", {"compression": "jpeg"}),
    ("rgba", "RGBA", {"compression": "tiff_lzw"}),
    ("gray-alpha", "LA", {"compression": "tiff_lzw"}),
]:
    pillow_picture(mode).save(folder / f"{name}.tif", **options)
bilevel = pillow_picture("L").point(lambda value: 255 * (value > 100), "1")
for compression in ("group3", "group4", "tiff_ccitt"):
    bilevel.save(folder / f"{compression}.tif", compression=compression)
pillow_picture("RGB").quantize(16).save(folder / "palette.tif")
inks.save(folder / "cmyk.tif", compression="tiff_lzw")
pillow_picture("RGB").save(
    folder / "pages.tif", compression="tiff_lzw", save_all=True,
    append_images=[pillow_picture("L"), pillow_picture("RGBA")],
)


def plain_tiff(bits, kinds, photometric, samples, data, order="<", extra=()):
    """One strip without compression; every sample of the same kind."""
    tags = [
        (256, 4, [WIDTH]), (257, 4, [HEIGHT]), (258, 3, [bits] * samples), (259, 3, [1]),
        (262, 3, [photometric]), (273, 4, [8]), (277, 3, [samples]), (278, 4, [HEIGHT]),
        (279, 4, [len(data)]), *extra, (339, 3, [kinds] * samples),
    ]
    start = 8 + len(data) + len(data) % 2
    head = b"II*\0" if order == "<" else b"MM\0*"
    body = data + b"\0" * (len(data) % 2)
    values_at = start + 2 + 12 * len(tags) + 4
    entries, values = struct.pack(order + "H", len(tags)), b""
    for tag, kind, numbers in tags:
        packed = struct.pack(order + ("H" if kind == 3 else "I") * len(numbers), *numbers)
        entries += struct.pack(order + "HHI", tag, kind, len(numbers))
        if len(packed) > 4:
            entries += struct.pack(order + "I", values_at + len(values))
            values += packed
        else:
            entries += packed.ljust(4, b"\0")
    return head + struct.pack(order + "I", start) + body + entries + bytes(4) + values


gray = sum(rows(1, 8), [])
for order in "<>":
    suffix = "little" if order == "<" else "big"
    floats = struct.pack(f"{order}{len(gray)}f", *[value / 255 for value in gray])
    (folder / f"float-{suffix}.tif").write_bytes(plain_tiff(32, 3, 1, 1, floats, order))
    numbers = struct.pack(f"{order}{len(gray)}h", *[value * 257 - 32768 for value in gray])
    (folder / f"signed-{suffix}.tif").write_bytes(plain_tiff(16, 2, 1, 1, numbers, order))
(folder / "white-is-zero.tif").write_bytes(plain_tiff(8, 1, 0, 1, bytes(gray)))

# QOI, XBM, AVIF and JPEG XL: what Pillow and libjxl's cjxl write.
for folder in ["qoi", "xbm", "avif", "jpegxl", "jpng"]:
    (here / folder / "valid").mkdir(parents=True, exist_ok=True)
color.save(here / "qoi/valid/rgb.qoi")
alpha.save(here / "qoi/valid/rgba.qoi")
color.convert("1").save(here / "xbm/valid/plain.xbm")
color.convert("1").save(here / "xbm/valid/hotspot.xbm", hotspot=(3, 5))
for name, image, options in [
    ("rgb", color, {"subsampling": "4:2:0"}),
    ("rgb-444", color, {"subsampling": "4:4:4"}),
    ("rgba", alpha, {}),
    ("gray", color.convert("L"), {"subsampling": "4:0:0"}),
]:
    image.save(here / f"avif/valid/{name}.avif", quality=80, **options)
for name, source, options in [
    ("rgb", "png/valid/rgb-8.png", ["-d", "1"]),
    ("rgba-lossless", "png/valid/rgba-8.png", ["-d", "0"]),
    ("gray-16", "png/valid/gray-16.png", ["-d", "0"]),
    ("transcode", "jpeg/valid/baseline-420.jpg", ["--lossless_jpeg=1"]),
]:
    subprocess.run(
        ["cjxl", here / source, here / f"jpegxl/valid/{name}.jxl", "--quiet", *options],
        check=True,
    )

# JPNG: a JPEG, its mask as a PNG, and the footer in its two spellings.
for name, identifier in [("footer", b"GNPJ"), ("footer-old", b"GEPJ")]:
    parts = [io.BytesIO(), io.BytesIO()]
    color.save(parts[0], "JPEG", quality=80)
    alpha.getchannel("A").save(parts[1], "PNG")
    picture, mask = (part.getvalue() for part in parts)
    footer = struct.pack("<IIHBB", len(picture), len(mask), 16, 1, 0) + identifier
    (here / f"jpng/valid/{name}.jpng").write_bytes(picture + mask + footer)
