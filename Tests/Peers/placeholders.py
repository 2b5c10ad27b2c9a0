# SPDX-License-Identifier: Apache-2.0
"""Encodes and renders placeholders with the reference of ThumbHash and a port of that of BlurHash.

    placeholders.py thumbhash FILE            the bytes of the hash
    placeholders.py thumbhash-image HEX     the image, P7
    placeholders.py thumbhash-color HEX       red, green, blue, alpha and the proportions, as text
    placeholders.py blurhash FILE X Y         the hash as text
    placeholders.py blurhash-image HASH WIDTH HEIGHT PUNCH

FILE is "P7", width, height and 4, then RGBA that is not premultiplied.
"""

import sys

out = sys.stdout.buffer


def pixels(path):
    with open(path, "rb") as file:
        _, width, height, channels = file.readline().split()
        assert channels == b"4"
        return int(width), int(height), file.read()


command, *rest = sys.argv[1:]
if command.startswith("thumbhash"):

    from thumbhash import _thumbhash as reference

    if command == "thumbhash":
        out.write(reference.rgba_to_thumb_hash(*pixels(rest[0])))
    elif command == "thumbhash-picture":
        width, height, rgba = reference.thumb_hash_to_rgba(bytes.fromhex(rest[0]))
        out.write(f"P7 {width} {height} 4\n".encode() + rgba)
    else:
        color = reference.thumb_hash_to_average_rgba(bytes.fromhex(rest[0]))
        ratio = reference.thumb_hash_to_approximate_aspect_ratio(bytes.fromhex(rest[0]))
        out.write(" ".join(str(value) for value in (*color, ratio)).encode())
else:
    import blurhash

    if command == "blurhash":
        width, height, rgba = pixels(rest[0])
        rows = [
            [rgba[4 * (y * width + x) : 4 * (y * width + x) + 3] for x in range(width)]
            for y in range(height)
        ]
        out.write(blurhash.encode(rows, int(rest[1]), int(rest[2])).encode())
    else:
        width, height, punch = int(rest[1]), int(rest[2]), float(rest[3])
        rows = blurhash.decode(rest[0], width, height, punch)
        out.write(f"P7 {width} {height} 3\n".encode())
        out.write(bytes(sample for row in rows for pixel in row for sample in pixel))
