# SPDX-License-Identifier: Apache-2.0
"""Blurs an image or rounds its corners: FILE blur SIGMA, or FILE corners RADIUS; FILE is PNG."""

import sys

import numpy
from PIL import Image, ImageDraw

path, operation, amount = sys.argv[1], sys.argv[2], float(sys.argv[3])
pixels = numpy.asarray(Image.open(path).convert("RGBA")).astype(float)


def blur_rows(pixels):
    """Applies a Gaussian by its definition, with replicated edges."""
    reach = int(4 * amount + 1)
    weights = numpy.exp(-0.5 * (numpy.arange(-reach, reach + 1) / amount) ** 2)
    wide = numpy.pad(pixels, ((0, 0), (reach, reach), (0, 0)), mode="edge")
    width = pixels.shape[1]
    total = sum(weight * wide[:, i : i + width] for i, weight in enumerate(weights))
    return total / weights.sum()


def swapped(pixels):
    return pixels.swapaxes(0, 1)


if operation == "blur":
    result = swapped(blur_rows(swapped(blur_rows(pixels))))
else:
    height, width, _ = pixels.shape
    mask = Image.new("L", (width * 16, height * 16), 0)
    box = (0, 0, width * 16 - 1, height * 16 - 1)
    ImageDraw.Draw(mask).rounded_rectangle(box, amount * 16, fill=255)
    result = pixels.copy()
    result[:, :, 3] *= numpy.asarray(mask.reduce(16)) / 255
height, width, _ = result.shape
sys.stdout.buffer.write(f"P7 {width} {height} 4\n".encode())
sys.stdout.buffer.write(numpy.rint(result).astype("uint8").tobytes())
