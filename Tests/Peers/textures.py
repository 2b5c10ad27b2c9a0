# SPDX-License-Identifier: Apache-2.0
"""Decodes textures with texture2ddecoder or Pillow: FORMAT FILE WIDTHxHEIGHTxCOUNT…

FILE contains the blocks of COUNT textures of each size, one after the other. Writes their pixels as RGBA.
"""

import sys

import numpy
import texture2ddecoder as decoder
from PIL import Image


def pillow(number):
    """Returns a decoder of Pillow, which in contrast to the other one knows alpha of BC1 to BC3."""
    def decode(data, width, height):
        pixels = numpy.asarray(Image.frombytes("RGBA", (width, height), data, "bcn", (number,)))
        return pixels[:, :, [2, 1, 0, 3]].tobytes()
    return decode


FORMATS = {
    "pvrtc2": (lambda data, width, height: decoder.decode_pvrtc(data, width, height, True), 2),
    "pvrtc4": (lambda data, width, height: decoder.decode_pvrtc(data, width, height, False), 4),
    "etc1": (decoder.decode_etc1, 4),
    "etc2": (decoder.decode_etc2, 4),
    "etc2PunchThrough": (decoder.decode_etc2a1, 4),
    "etc2Alpha": (decoder.decode_etc2a8, 8),
    "eacR": (decoder.decode_eacr, 4),
    "eacRG": (decoder.decode_eacrg, 8),
    "eacRSigned": (decoder.decode_eacr_signed, 4),
    "bc1": (pillow(1), 4),
    "bc2": (pillow(2), 8),
    "bc3": (pillow(3), 8),
    "bc4": (decoder.decode_bc4, 4),
    "bc5": (decoder.decode_bc5, 8),
    "bc7": (decoder.decode_bc7, 8),
}

decode, bits_per_pixel = FORMATS[sys.argv[1]]
data = open(sys.argv[2], "rb").read()
start = 0
for argument in sys.argv[3:]:
    width, height, count = map(int, argument.split("x"))
    size = width * height * bits_per_pixel // 8
    for _ in range(count):
        pixels = numpy.frombuffer(decode(data[start:start + size], width, height), numpy.uint8)
        sys.stdout.buffer.write(pixels.reshape(-1, 4)[:, [2, 1, 0, 3]].tobytes())
        start += size
