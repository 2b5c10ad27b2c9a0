# SPDX-License-Identifier: Apache-2.0
"""Decodes a BMP file whose pixels are 16 or 32 bits cut up by masks to RGBA of 8 bits: FILE.

Every field is stretched to 0...255 and rounded to the nearest; colours stay straight.
"""

import struct
import sys

import numpy

data = open(sys.argv[1], "rb").read()
(offset,) = struct.unpack_from("<I", data, 10)
width, height, _, depth = struct.unpack_from("<iiHH", data, 18)
masks = list(struct.unpack_from("<4I", data, 54))
(header,) = struct.unpack_from("<I", data, 14)
(compression,) = struct.unpack_from("<I", data, 30)
if header < 56 and compression != 6:
    masks[3] = 0
stride = (width * depth + 31) // 32 * 4
kind = "<u2" if depth == 16 else "<u4"
rows = [
    numpy.frombuffer(data, kind, width, offset + y * stride).astype(numpy.float64)
    for y in range(abs(height))
]
pixels = numpy.stack(rows[::-1] if height > 0 else rows).astype(numpy.uint64)
out = numpy.full((abs(height), width, 4), 255, numpy.uint8)
for channel, mask in enumerate(masks):
    if mask:
        shift = (mask & -mask).bit_length() - 1
        values = ((pixels & numpy.uint64(mask)) >> numpy.uint64(shift)).astype(numpy.float64)
        out[:, :, channel] = numpy.floor(values * 255 / (mask >> shift) + 0.5)
    elif channel < 3:
        out[:, :, channel] = 0
sys.stdout.buffer.write(b"P7 %d %d 4\n" % (width, abs(height)))
sys.stdout.buffer.write(out.tobytes())
