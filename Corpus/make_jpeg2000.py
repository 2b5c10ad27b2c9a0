# SPDX-License-Identifier: Apache-2.0
"""Makes the JPEG 2000 file of this folder that Pillow cannot write again; needs opj_compress."""

import pathlib
import struct
import subprocess
import tempfile

here = pathlib.Path(__file__).parent / "jpeg2000/valid"
WIDTH, HEIGHT = 37, 29


def parts(codestream):
    """The tile-parts of a codestream as lists of bytes, after what precedes them."""
    offset = 2
    while codestream[offset : offset + 2] != b"\xff\x90":
        offset += 2 + struct.unpack(">H", codestream[offset + 2 : offset + 4])[0]
    result = [codestream[:offset]]
    while codestream[offset : offset + 2] == b"\xff\x90":
        end = offset + struct.unpack(">I", codestream[offset + 6 : offset + 10])[0]
        result.append(bytearray(codestream[offset:end]))
        offset = end
    return result


with tempfile.TemporaryDirectory() as folder:
    source, target = pathlib.Path(folder, "in.ppm"), pathlib.Path(folder, "out.j2k")
    pixels = bytes(
        channel
        for y in range(HEIGHT)
        for x in range(WIDTH)
        for channel in (x * 6, y * 8, (x * 3 + y * 5) % 256)
    )
    source.write_bytes(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + pixels)
    subprocess.run(
        ["opj_compress", "-i", source, "-o", target, "-t", "16,16", "-n", "3"]
        + ["-p", "RPCL", "-TP", "R"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    header, *tiles = parts(target.read_bytes())

# The tile-parts of the tiles in turn, without their number.
tiles.sort(key=lambda part: part[10])
for part in tiles:
    part[11] = 0
(here / "tile-parts.j2k").write_bytes(header + b"".join(tiles) + b"\xff\xd9")
