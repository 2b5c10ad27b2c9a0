# SPDX-License-Identifier: Apache-2.0
"""Halves an image repeatedly with Pillow's box filter: FILE LEVEL; FILE is PNG."""

import sys

from PIL import Image

image = Image.open(sys.argv[1])
for _ in range(int(sys.argv[2])):
    image = image.reduce(2)
sys.stdout.buffer.write(
    f"P7 {image.width} {image.height} {len(image.getbands())}\n".encode()
)
sys.stdout.buffer.write(image.tobytes())
