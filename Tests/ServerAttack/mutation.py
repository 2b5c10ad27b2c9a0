# SPDX-License-Identifier: Apache-2.0
"""Seeded damage to files: flipped bits, truncation, swapped blocks, changed lengths, insertions."""

import struct
import zlib

# Unusual values of length and size fields.
NUMBERS = [0, 1, 2, 3, 7, 8, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x10001,
           0xFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]


def mutant(rng, data, same_format):
    """Returns a file with one to three kinds of damage; `same_format` are files to splice with."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not data:
            break
        kind = rng.choices(KINDS, WEIGHTS)[0]
        kind(rng, data, same_format)
    # Otherwise most damage to a PNG is detected by the first checksum.
    if data.startswith(b"\x89PNG\r\n\x1a\n") and rng.random() < 0.6:
        mend_png(data)
    return bytes(data)


def flip(rng, data, _):
    for _ in range(rng.choice((1, 2, 8, 64))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def flip_early(rng, data, _):
    """The same in the first 256 bytes, which contain headers."""
    for _ in range(rng.choice((1, 2, 4))):
        data[rng.randrange(min(len(data), 256))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def cut(rng, data, _):
    del data[rng.randrange(len(data)):]


def cut_out(rng, data, _):
    start = rng.randrange(len(data))
    del data[start : start + rng.choice((1, 2, 4, 16, 256, 4096))]


def swap(rng, data, _):
    length = min(rng.choice((1, 4, 16, 64, 1024)), len(data) // 2)
    if length:
        first = rng.randrange(len(data) - 2 * length + 1)
        second = rng.randrange(first + length, len(data) - length + 1)
        data[first : first + length], data[second : second + length] = (
            data[second : second + length], data[first : first + length])


def change_length(rng, data, _):
    """Writes another number of 2 or 4 bytes, in either byte order, most often near the start."""
    form = rng.choice(("<H", ">H", "<I", ">I", ">I"))
    size = struct.calcsize(form)
    end = len(data) - size
    if end < 0:
        return
    place = rng.randrange(min(end, rng.choice((64, 512, end))) + 1)
    number = rng.choice(NUMBERS + [len(data), len(data) - 1, len(data) + 1])
    if rng.random() < 0.4:
        number = struct.unpack_from(form, data, place)[0] + rng.choice((-2, -1, 1, 2, 256, -256))
    struct.pack_into(form, data, place, number % (1 << (8 * size)))


def insert(rng, data, _):
    place = rng.randrange(len(data) + 1)
    length = rng.choice((1, 2, 4, 16, 256, 4096))
    if rng.random() < 0.5:
        data[place:place] = rng.randbytes(length)
    else:
        start = rng.randrange(len(data))
        data[place:place] = data[start : start + length]


def splice(rng, data, same_format):
    """Joins the start of one file and the end of another one of its format."""
    other = rng.choice(same_format)
    data[rng.randrange(len(data)):] = other[rng.randrange(len(other)):]


KINDS = [flip, flip_early, cut, cut_out, swap, change_length, insert, splice]
WEIGHTS = [20, 15, 10, 10, 8, 22, 10, 5]


def mend_png(data):
    """Recomputes the checksum of each chunk of a PNG."""
    place = 8
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        end = place + 8 + length
        if end + 4 > len(data):
            return
        data[end : end + 4] = zlib.crc32(data[place + 4 : end]).to_bytes(4, "big")
        place = end + 4
