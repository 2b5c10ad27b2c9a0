# SPDX-License-Identifier: Apache-2.0
"""Decodes a PNG with pypng, a decoder in pure Python, to RGBA of 8 bits a sample."""

import sys

import png

width, height, rows, _ = png.Reader(filename=sys.argv[1]).asRGBA8()
out = sys.stdout.buffer
out.write(f"P7 {width} {height} 4\n".encode())
for row in rows:
    out.write(bytes(row))
