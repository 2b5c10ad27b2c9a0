# SPDX-License-Identifier: Apache-2.0
"""Decodes every frame of an animation with Pillow to RGBA of 8 bits a sample: FILE [COUNT].

Each frame is the whole canvas. Before it stand its size and its duration in milliseconds.
"""

import sys

from PIL import Image

Image.MAX_IMAGE_PIXELS = None
image = Image.open(sys.argv[1])
count = getattr(image, "n_frames", 1)
if len(sys.argv) > 2:
    count = min(count, int(sys.argv[2]))
out = sys.stdout.buffer
for index in range(count):
    image.seek(index)
    frame = image.convert("RGBA")
    duration = round(image.info.get("duration", 0) or 0)
    out.write(f"FRAME {frame.width} {frame.height} {duration}\n".encode())
    out.write(frame.tobytes())
