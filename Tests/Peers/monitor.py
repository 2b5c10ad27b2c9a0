# SPDX-License-Identifier: Apache-2.0
"""Charts in several colour spaces, and what Pillow (lcms2) shows of them on several monitors.

monitor.py FOLDER writes charts (NAME.png), profiles of monitors (NAME.icc), and for each pair the pixels that
the monitor shows (CHART-MONITOR.ppm).
"""

import io
import pathlib
import struct
import sys

import numpy
from PIL import Image, ImageCms

# White, red, green and blue in CIE 1931 x and y, and the exponent of the curve.
D65, D50 = (0.3127, 0.3290), (0.3457, 0.3585)
SPACES = {
    "srgb": (D65, (0.64, 0.33), (0.30, 0.60), (0.15, 0.06), 2.2),
    "p3": (D65, (0.68, 0.32), (0.265, 0.69), (0.15, 0.06), 2.2),
    "adobe": (D65, (0.64, 0.33), (0.21, 0.71), (0.15, 0.06), 2.2),
    "bt2020": (D65, (0.708, 0.292), (0.170, 0.797), (0.131, 0.046), 2.4),
    "prophoto": (D50, (0.7347, 0.2653), (0.1596, 0.8404), (0.0366, 0.0001), 1.8),
    "apple": (D65, (0.625, 0.34), (0.28, 0.595), (0.155, 0.07), 1.8),
}
MONITORS = {
    "wide": SPACES["p3"],
    "office": ((0.300, 0.320), (0.63, 0.34), (0.31, 0.59), (0.155, 0.075), 2.0),
    "print": (D50, (0.64, 0.33), (0.21, 0.71), (0.15, 0.06), 1.8),
}
PATCH, COLUMNS, ROWS = 40, 8, 6


def xyz(point):
    return numpy.array([point[0] / point[1], 1, (1 - point[0] - point[1]) / point[1]])


def matrix(space):
    """From linear RGB to XYZ, adapted to D50 by Bradford's method."""
    white, red, green, blue, _ = space
    primaries = numpy.array([xyz(red), xyz(green), xyz(blue)]).T
    primaries = primaries * numpy.linalg.solve(primaries, xyz(white))
    cone = numpy.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    to = numpy.array([0.9642, 1, 0.8249])
    scale = numpy.diag(cone @ to / (cone @ xyz(white)))
    return numpy.linalg.inv(cone) @ scale @ cone @ primaries


def profile(space):
    """An ICC profile of version 2 with a matrix and a power curve."""
    def fixed(value):
        return struct.pack(">i", round(value * 65536))

    def point(values):
        return b"XYZ \0\0\0\0" + b"".join(fixed(value) for value in values)
    columns = matrix(space).T
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(space[4] * 256))
    text = b"monitor\0"
    description = b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + b"\0" * 78
    tags = [(b"desc", description), (b"wtpt", point([0.9642, 1, 0.8249])),
            (b"rXYZ", point(columns[0])), (b"gXYZ", point(columns[1])), (b"bXYZ", point(columns[2])),
            (b"rTRC", curve), (b"gTRC", curve), (b"bTRC", curve), (b"cprt", b"text\0\0\0\0CC0\0")]
    body, table = b"", struct.pack(">I", len(tags))
    for name, value in tags:
        table += name + struct.pack(">II", 132 + 12 * len(tags) + len(body), len(value))
        body += value + b"\0" * (-len(value) % 4)
    header = bytearray(128)
    header[:4] = struct.pack(">I", 132 + 12 * len(tags) + len(body))
    header[8:24] = b"\2\x10\0\0mntrRGB XYZ "
    header[36:40] = b"acsp"
    header[68:80] = b"".join(fixed(value) for value in (0.9642, 1, 0.8249))
    return bytes(header) + table + body


def chart():
    """Patches of greys, saturated colours and colours between."""
    generator = numpy.random.default_rng(29)
    colors = generator.integers(0, 256, (ROWS * COLUMNS, 3))
    colors[:8] = numpy.arange(8)[:, None] * 36
    colors[8:14] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255], [255, 0, 255]]
    pixels = colors.reshape(ROWS, COLUMNS, 3).astype(numpy.uint8)
    return pixels.repeat(PATCH, 0).repeat(PATCH, 1)


def shown(image, source, monitor):
    """The pixels that a monitor shows."""
    return ImageCms.profileToProfile(
        image, ImageCms.ImageCmsProfile(io.BytesIO(source)), ImageCms.ImageCmsProfile(io.BytesIO(monitor)),
        renderingIntent=ImageCms.Intent.PERCEPTUAL)


def lab(pixels, space):
    light = (numpy.asarray(pixels, float) / 255) ** space[4]
    ratio = light @ matrix(space).T / numpy.array([0.9642, 1, 0.8249])
    f = numpy.where(ratio > 216 / 24389, numpy.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return numpy.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def difference(one, other, space):
    """The maximum of CIEDE2000 between pixels of a monitor (CIE 142-2001)."""
    (l1, a1, b1), (l2, a2, b2) = (numpy.moveaxis(lab(pixels, space), -1, 0) for pixels in (one, other))
    mean = (numpy.hypot(a1, b1) + numpy.hypot(a2, b2)) / 2
    g = 1.5 - 0.5 * numpy.sqrt(mean**7 / (mean**7 + 25.0**7))
    c1, c2 = numpy.hypot(a1 * g, b1), numpy.hypot(a2 * g, b2)
    h1, h2 = numpy.degrees(numpy.arctan2(b1, a1 * g)) % 360, numpy.degrees(numpy.arctan2(b2, a2 * g)) % 360
    turn = numpy.where(c1 * c2 == 0, 0, (h2 - h1 + 180) % 360 - 180)
    dh = 2 * numpy.sqrt(c1 * c2) * numpy.sin(numpy.radians(turn / 2))
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = numpy.where(c1 * c2 == 0, h1 + h2, h1 + turn / 2) % 360

    def cosine(factor, shift):
        return numpy.cos(numpy.radians(factor * h + shift))
    t = 1 - 0.17 * cosine(1, -30) + 0.24 * cosine(2, 0) + 0.32 * cosine(3, 6) - 0.2 * cosine(4, -63)
    sl = 1 + 0.015 * (l - 50) ** 2 / numpy.sqrt(20 + (l - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    rt = (-numpy.sin(numpy.radians(60 * numpy.exp(-(((h - 275) / 25) ** 2))))
          * 2 * numpy.sqrt(c**7 / (c**7 + 25.0**7)))
    dl, dc = (l2 - l1) / sl, (c2 - c1) / sc
    return float(numpy.sqrt(dl**2 + dc**2 + (dh / sh) ** 2 + rt * dc * dh / sh).max())


def main():
    folder = pathlib.Path(sys.argv[1])
    image = Image.fromarray(chart())
    for monitor, space in MONITORS.items():
        (folder / f"{monitor}.icc").write_bytes(profile(space))
    for name, space in SPACES.items():
        image.save(folder / f"{name}.png", icc_profile=profile(space))
        for monitor, target in MONITORS.items():
            shown(image, profile(space), profile(target)).save(folder / f"{name}-{monitor}.ppm")


if __name__ == "__main__":
    main()
