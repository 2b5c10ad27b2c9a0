# SPDX-License-Identifier: Apache-2.0
"""Packs an opaque image into 16 bits per pixel with an ordered dither: FILE 565 or FILE 555.

Writes the pixels, the lower byte first. Bayer's matrix is made by doubling, as he defined it.
"""

import sys

import numpy
from PIL import Image

pixels = numpy.asarray(Image.open(sys.argv[1]).convert("RGB")).astype(int)
bits = [int(digit) for digit in sys.argv[2]]
matrix = numpy.array([[0]])
for _ in range(3):
    matrix = numpy.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
height, width, _ = pixels.shape
places = numpy.tile(matrix, (height // 8 + 1, width // 8 + 1))[:height, :width]
packed = numpy.zeros((height, width), int)
for channel, count in enumerate(bits):
    top = 2**count - 1
    level = (pixels[:, :, channel] * top * 128 + (2 * places + 1) * 255) // (255 * 128)
    packed = packed << count | level
sys.stdout.buffer.write(packed.astype("<u2").tobytes())
