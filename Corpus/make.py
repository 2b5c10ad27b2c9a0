# SPDX-License-Identifier: Apache-2.0
"""Makes the sample files of this folder again; needs pypng, Pillow and libjpeg-turbo's cjpeg.

One small picture of our own, 37 by 29 pixels, in every form that the formats allow.
"""

import pathlib
import subprocess

import png
from PIL import Image

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
