# SPDX-License-Identifier: Apache-2.0
"""Decodes an image with Pillow to RGBA of 8 bits a sample: FILE [FRAME].

No profile is applied and nothing is turned.
"""

import sys

import numpy
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
image = Image.open(sys.argv[1])
if len(sys.argv) > 2:
    image.seek(int(sys.argv[2]))
if image.format == "TIFF":
    # Pillow does not scale floating-point, signed and 12-bit samples.
    samples = numpy.asarray(image)
    kinds = image.tag_v2.get(339, (1,))
    depth = image.tag_v2.get(258, (1,))[0]
    if image.mode == "F":
        wide = numpy.clip(numpy.nan_to_num(samples.astype(numpy.float64)), 0, 1) * 65535 + 0.5
        image = Image.fromarray(wide.astype(numpy.uint16))
    elif kinds[0] == 2 and depth == 16:
        image = Image.fromarray((samples.astype(numpy.int32) + 32768).astype(numpy.uint16))
    elif kinds[0] == 2 and depth == 8:
        image = Image.fromarray(samples ^ 128)
    elif depth == 12 and image.mode == "I;16":
        wide = (samples.astype(numpy.uint32) * 65535 + 2047) // 4095
        image = Image.fromarray(wide.astype(numpy.uint16))
if image.mode.startswith(("I;16", "I")):
    samples = numpy.asarray(image).astype(numpy.uint32)
    image = Image.fromarray(((samples * 255 + 32895) >> 16).astype(numpy.uint8))
image = image.convert("RGBA")
out = sys.stdout.buffer
out.write(f"P7 {image.width} {image.height} 4\n".encode())
out.write(image.tobytes())
