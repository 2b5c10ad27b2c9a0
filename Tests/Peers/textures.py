# SPDX-License-Identifier: Apache-2.0
"""Decodes textures with texture2ddecoder, Pillow or the reference implementation of ASTC: FORMAT FILE WIDTHxHEIGHTxCOUNT…

FILE contains the blocks of COUNT textures of each size, one after the other. Writes their pixels as RGBA.
"""

import sys

import astc_encoder
import numpy
import texture2ddecoder as decoder
from PIL import Image


def pillow(number):
    """Returns a decoder of Pillow, which in contrast to the other one knows alpha of BC1 to BC3."""
    def decode(data, width, height):
        pixels = numpy.asarray(Image.frombytes("RGBA", (width, height), data, "bcn", (number,)))
        return pixels[:, :, [2, 1, 0, 3]].tobytes()
    return decode


def pillow_half(name):
    """Returns a decoder of Pillow, which clips half-precision floats to 8 bits."""
    def decode(data, width, height):
        image = Image.frombytes("RGB", (width, height), data, "bcn", (6, name))
        pixels = numpy.asarray(image.convert("RGBA"))
        return pixels[:, :, [2, 1, 0, 3]].tobytes()
    return decode


def astc(block_width, block_height):
    """Returns a decoder of ASTC for sRGB, which the specification defines for 8 bits."""
    config = astc_encoder.ASTCConfig(
        astc_encoder.ASTCProfile.LDR_SRGB, block_width, block_height,
        flags=astc_encoder.ASTCConfigFlags.DECOMPRESS_ONLY)
    context = astc_encoder.ASTCContext(config)

    swizzle = astc_encoder.ASTCSwizzle.from_str("RGBA")

    def decoded(data, width, height, kind, dtype):
        image = astc_encoder.ASTCImage(kind, width, height)
        context.decompress(data, image, swizzle)
        return numpy.frombuffer(image.data, dtype).reshape(-1, 4)

    def decode(data, width, height):
        pixels = decoded(data, width, height, astc_encoder.ASTCType.U8, numpy.uint8).copy()
        # What the profile does not define is not a number, which bytes cannot represent.
        floats = decoded(data, width, height, astc_encoder.ASTCType.F32, numpy.float32)
        pixels[numpy.isnan(floats).any(axis=1)] = (255, 0, 255, 255)
        return pixels[:, [2, 1, 0, 3]].tobytes()
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
    "bc6h": (pillow_half("BC6H"), 8),
    "bc7": (decoder.decode_bc7, 8),
}

block = (4, 4)
if sys.argv[1].startswith("astc"):
    block = tuple(map(int, sys.argv[1].removeprefix("astc").split("x")))
    decode, block_size = astc(*block), 16
else:
    decode, bits_per_pixel = FORMATS[sys.argv[1]]
    block_size = bits_per_pixel * 2
data = open(sys.argv[2], "rb").read()
start = 0
for argument in sys.argv[3:]:
    width, height, count = map(int, argument.split("x"))
    size = -(-width // block[0]) * -(-height // block[1]) * block_size
    for _ in range(count):
        pixels = numpy.frombuffer(decode(data[start:start + size], width, height), numpy.uint8)
        sys.stdout.buffer.write(pixels.reshape(-1, 4)[:, [2, 1, 0, 3]].tobytes())
        start += size
