# SPDX-License-Identifier: Apache-2.0
"""Resamples an image with Pillow: FILE WIDTH HEIGHT box|triangle|catmullRom|lanczos3 [X Y W H]."""

import sys

from PIL import Image

kernels = {
    "box": Image.Resampling.BOX,
    "triangle": Image.Resampling.BILINEAR,
    "catmullRom": Image.Resampling.BICUBIC,
    "lanczos3": Image.Resampling.LANCZOS,
}
path, width, height, kernel = sys.argv[1:5]
part = [int(number) for number in sys.argv[5:]]
box = (part[0], part[1], part[0] + part[2], part[1] + part[3]) if part else None
image = Image.open(path).resize((int(width), int(height)), kernels[kernel], box=box)
channels = len(image.getbands())
sys.stdout.buffer.write(f"P7 {image.width} {image.height} {channels}\n".encode())
sys.stdout.buffer.write(image.tobytes())
