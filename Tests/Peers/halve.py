# SPDX-License-Identifier: Apache-2.0
"""Halves a picture again and again with Pillow's means: FILE LEVEL, FILE being PNG."""

import sys

from PIL import Image

picture = Image.open(sys.argv[1])
for _ in range(int(sys.argv[2])):
    picture = picture.reduce(2)
sys.stdout.buffer.write(
    f"P7 {picture.width} {picture.height} {len(picture.getbands())}\n".encode()
)
sys.stdout.buffer.write(picture.tobytes())
