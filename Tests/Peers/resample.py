# SPDX-License-Identifier: Apache-2.0
"""Resamples a picture with Pillow: FILE.pnm WIDTH HEIGHT box|triangle|catmullRom|lanczos3."""

import sys

from PIL import Image

kernels = {
    "box": Image.Resampling.BOX,
    "triangle": Image.Resampling.BILINEAR,
    "catmullRom": Image.Resampling.BICUBIC,
    "lanczos3": Image.Resampling.LANCZOS,
}
path, width, height, kernel = sys.argv[1:]
picture = Image.open(path).resize((int(width), int(height)), kernels[kernel])
channels = len(picture.getbands())
sys.stdout.buffer.write(f"P7 {picture.width} {picture.height} {channels}\n".encode())
sys.stdout.buffer.write(picture.tobytes())
