# SPDX-License-Identifier: Apache-2.0
"""Decodes every frame of an animation with Pillow to RGBA of 8 bits a sample.

Arguments: FILE [COUNT [WIDTH HEIGHT]]. Each frame is the whole canvas; if a size is given it is
resized, in numbers that are rounded once. Before it stand its size, its duration in milliseconds
and the number that the file says of loops, -1 for none.
"""

import sys

import numpy
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
image = Image.open(sys.argv[1])


def resized(frame, size):
    pixels = numpy.asarray(frame).astype("float32")
    pixels[..., :3] *= pixels[..., 3:] / 255
    planes = [Image.fromarray(pixels[..., channel]) for channel in range(4)]
    planes = [numpy.asarray(plane.resize(size, Image.Resampling.LANCZOS)) for plane in planes]
    alpha = numpy.clip(planes[3], 0, 255)
    colors = [numpy.clip(plane, 0, alpha) * 255 / alpha.clip(1e-9) for plane in planes[:3]]
    return Image.fromarray(numpy.rint(numpy.stack([*colors, alpha], 2)).astype("uint8"))


count = getattr(image, "n_frames", 1)
if len(sys.argv) > 2:
    count = min(count, int(sys.argv[2]))
size = tuple(int(side) for side in sys.argv[3:5])
loop = image.info.get("loop", -1)
out = sys.stdout.buffer
for index in range(count):
    image.seek(index)
    frame = image.convert("RGBA")
    if size:
        frame = resized(frame, size)
    duration = round(image.info.get("duration", 0) or 0)
    out.write(f"FRAME {frame.width} {frame.height} {duration} {loop}\n".encode())
    out.write(frame.tobytes())
