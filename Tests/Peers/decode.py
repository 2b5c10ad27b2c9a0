# SPDX-License-Identifier: Apache-2.0
"""Decodes a picture with Pillow to RGBA of 8 bits a sample: FILE [FRAME].

No profile is applied and nothing is turned.
"""

import sys

import numpy
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
image = Image.open(sys.argv[1])
if len(sys.argv) > 2:
    image.seek(int(sys.argv[2]))
if image.mode.startswith(("I;16", "I")):
    samples = numpy.asarray(image).astype(numpy.uint32)
    image = Image.fromarray(((samples * 255 + 32895) >> 16).astype(numpy.uint8))
image = image.convert("RGBA")
out = sys.stdout.buffer
out.write(f"P7 {image.width} {image.height} 4\n".encode())
out.write(image.tobytes())
