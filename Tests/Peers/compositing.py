# SPDX-License-Identifier: Apache-2.0
"""Composites a source onto a backdrop with libvips or Pillow, once for each name.

compositing.py vips|pillow 8|16 WIDTH SOURCE BACKDROP NAME...

SOURCE and BACKDROP are files of premultiplied RGBA samples of that many bits, in native byte order.
NAME is a blend mode or an operator as in CSS and in W3C's “Compositing and Blending”. Writes the results one
after the other, as premultiplied RGBA in floats from 0 to 1. Pillow's blend modes require opaque images.
"""

import sys

import numpy
import pyvips
from PIL import Image, ImageChops

peer, depth, width, source, backdrop, *names = sys.argv[1:]
sample = numpy.uint8 if depth == "8" else numpy.uint16
largest = 255 if depth == "8" else 65535

VIPS_NAMES = {
    "copy": "source", "source-over": "over", "source-in": "in", "source-out": "out",
    "source-atop": "atop", "destination": "dest", "destination-over": "dest-over",
    "destination-in": "dest-in", "destination-out": "dest-out", "destination-atop": "dest-atop",
    "lighter": "add", "color-dodge": "colour-dodge", "color-burn": "colour-burn",
}
PILLOW_MODES = {
    "multiply": ImageChops.multiply, "screen": ImageChops.screen, "overlay": ImageChops.overlay,
    "darken": ImageChops.darker, "lighten": ImageChops.lighter, "hard-light": ImageChops.hard_light,
    "difference": ImageChops.difference, "lighter": ImageChops.add,
}


def read(path):
    return numpy.fromfile(path, sample).reshape(-1, int(width), 4)


def with_vips(name):
    interpretation = "srgb" if depth == "8" else "rgb16"
    images = [
        pyvips.Image.new_from_array(read(path)).copy(interpretation=interpretation)
        for path in (backdrop, source)
    ]
    result = images[0].composite2(
        images[1], VIPS_NAMES.get(name, name), premultiplied=True, compositing_space=interpretation)
    result = result.numpy().astype(float) / largest
    # libvips does not clear the colours of transparent pixels.
    result[result[:, :, 3] == 0] = 0
    return result


def with_pillow(name):
    images = [Image.fromarray(read(path)) for path in (backdrop, source)]
    if name == "source-over":
        result = numpy.asarray(Image.alpha_composite(*images))
    else:
        below, above = (image.convert("RGB") for image in images)
        # The layer whose values select the formula is Pillow's second image.
        result = numpy.asarray(PILLOW_MODES[name](below, above).convert("RGBA"))
    return result / largest


for name in names:
    result = with_vips(name) if peer == "vips" else with_pillow(name)
    sys.stdout.buffer.write(numpy.ascontiguousarray(result, numpy.float32).tobytes())
