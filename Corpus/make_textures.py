# SPDX-License-Identifier: Apache-2.0
"""Makes the sample textures: containers around blocks from a fixed sequence of random numbers."""

import pathlib
import random
import struct

here = pathlib.Path(__file__).resolve().parent
rng = random.Random(1)


def blocks(count):
    return bytes(rng.randrange(256) for _ in range(count))


def write(name, data):
    path = here / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def pvr2(kind, flags, alpha, levels, side):
    data = b"".join(levels)
    return struct.pack("<11I4sI", 52, side, side, len(levels) - 1, kind | flags, len(data), 4, 0, 0, 0,
                       alpha, b"PVR!", 1) + data


def pvr3(number, channel_type, levels, width, height, flags=0):
    header = struct.pack("<4sI8s9I", b"PVR\x03", flags, number, 1, channel_type, height, width, 1, 1, 1,
                         len(levels), 0)
    return header + b"".join(levels)


def number(value):
    return struct.pack("<Q", value)


def ktx(internal, width, height, data):
    return (b"\xabKTX 11\xbb\r\n\x1a\n" + struct.pack("<13I", 0x04030201, 0, 1, 0, internal, 0x1908, width, height,
                                                        0, 0, 1, 1, 0) + struct.pack("<I", len(data)) + data)


def ktx2(vulkan, width, height, data, scheme=0):
    return (b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", vulkan, 1, width, height, 0, 0, 1, 1, scheme)
            + struct.pack("<4I2Q", 0, 0, 0, 0, 0, 0) + struct.pack("<3Q", 104, len(data), len(data)) + data)


def dds(four_cc, width, height, data, masks=(0, 0, 0, 0, 0), flags=4):
    return (b"DDS " + struct.pack("<7I44x", 124, 0x1007, height, width, 0, 0, 0)
            + struct.pack("<2I4s5I", 32, flags, four_cc, *masks) + struct.pack("<5I", 0x1000, 0, 0, 0, 0) + data)


write("pvr/valid/pvrtc4-mipmaps.pvr", pvr2(0x19, 0x8300, 1, [blocks(128), blocks(32), blocks(32)], 16))
write("pvr/valid/pvrtc2.pvr", pvr3(number(0), 0, [blocks(128)], 32, 16))
write("pvr/valid/etc1.pvr", pvr3(number(6), 0, [bytes(range(128))], 16, 16))
write("pvr/valid/eac-rg.pvr", pvr3(number(26), 0, [blocks(256)], 16, 16))
write("pvr/valid/rgb565.pvr", pvr2(0x13, 0, 0, [blocks(200)], 10))
write("pvr/valid/rgba4444.pvr", pvr3(b"rgba\4\4\4\4", 0, [blocks(200)], 10, 10, flags=2))
write("pvr/invalid/not-a-power-of-two.pvr", pvr3(number(2), 0, [blocks(512)], 24, 24))
write("pvr/valid/astc.pvr", pvr3(number(27), 0, [blocks(256)], 16, 16))
write("pvr/invalid/too-many-levels.pvr", pvr2(0x19, 0x300, 0, [blocks(128)] * 20, 16))
write("ktx/valid/etc2-alpha.ktx", ktx(0x9278, 12, 8, blocks(96)))
write("ktx/valid/etc2.ktx", ktx(0x9274, 16, 16, blocks(128)))
write("ktx/valid/astc.ktx", ktx(0x93B0, 16, 16, blocks(256)))
write("ktx2/valid/bc7.ktx2", ktx2(146, 18, 10, blocks(240)))
write("ktx2/invalid/zstandard.ktx2", ktx2(146, 16, 16, blocks(256), scheme=2))
write("dds/valid/bc1.dds", dds(b"DXT1", 17, 9, blocks(120)))
write("dds/valid/bc3.dds", dds(b"DXT5", 16, 16, blocks(256)))
write("dds/valid/bgr.dds", dds(b"\0\0\0\0", 5, 4, blocks(60), (24, 0xFF0000, 0xFF00, 0xFF, 0), 0x40))
write("dds/invalid/unknown.dds", dds(b"XXXX", 16, 16, blocks(256)))
