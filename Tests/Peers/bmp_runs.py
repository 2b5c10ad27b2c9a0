# SPDX-License-Identifier: Apache-2.0
"""Decodes a BMP file of runs (RLE8, RLE4, RLE24) to RGBA of 8 bits: FILE.

What runs skip is transparent; what is too long for its row is dropped.
"""

import struct
import sys

data = open(sys.argv[1], "rb").read()
(place,) = struct.unpack_from("<I", data, 10)
header, width, height, _, depth = struct.unpack_from("<IiiHH", data, 14)
colors, pixels = {}, {}
for index in range((place - 14 - header) // 4):
    blue, green, red, _ = data[14 + header + index * 4 :][:4]
    colors[index] = (red, green, blue)


def take(count):
    global place
    if place + count > len(data):
        raise EOFError
    place += count
    return data[place - count : place]


def values(count, is_run):
    """Returns the next pixels: colours for 24 bits, indices otherwise."""
    if depth == 24:
        part = take(3) * count if is_run else take(3 * count)
        return [part[i : i + 3][::-1] for i in range(0, 3 * count, 3)]
    if depth == 8:
        return list(take(1) * count if is_run else take(count))
    part = take(1) * count if is_run else take((count + 1) // 2)
    return [half for byte in part for half in (byte >> 4, byte & 15)][:count]


x = y = 0
try:
    while y < abs(height):
        (count,) = take(1)
        if count:
            found = values(count, True)
        else:
            (code,) = take(1)
            if code == 0:
                x, y = 0, y + 1
                continue
            if code == 1:
                break
            if code == 2:
                right, up = take(2)
                x, y = x + right, y + up
                continue
            start = place
            found = values(code, False)
            place += (place - start) % 2
        for value in found:
            if x < width:
                pixels[x, y] = value if depth == 24 else colors.get(value, (0, 0, 0))
            x += 1
except EOFError:
    pass
out = bytearray()
for row in range(abs(height)):
    line = row if height < 0 else height - 1 - row
    for column in range(width):
        color = pixels.get((column, line))
        out += bytes(color) + b"\xff" if color else bytes(4)
sys.stdout.buffer.write(b"P7 %d %d 4\n" % (width, abs(height)) + out)
