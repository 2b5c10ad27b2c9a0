# SPDX-License-Identifier: Apache-2.0
"""Generates small files that need many resources: slow metadata, and decompression bombs."""

import hashlib
import struct
import zlib

PNG = b"\x89PNG\r\n\x1a\n"
RDF = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
       b' xmlns:dc="http://purl.org/dc/elements/1.1/"%s>%s</rdf:RDF></x:xmpmeta>')


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, rows, extra=b"", depth=8, color=2, interlaced=0):
    """Returns a PNG with the filtered bytes `rows`, preceded by `extra` chunks."""
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
    return PNG + chunk(b"IHDR", header) + extra + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def small_png(extra):
    return png(8, 8, zlib.compress((b"\0" + b"\x80\x60\x40" * 8) * 8), extra)


def xmp_chunk(xmp):
    return chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(xmp, 9))


def attributes(length):
    """XMP of one element with the maximum number of attributes."""
    return small_png(xmp_chunk(RDF % (b"", b"<rdf:Description" + b" a='b'" * (length // 6)
                                      + b"></rdf:Description>")))


def control_characters(length):
    """XMP with a title whose JSON form needs six bytes per byte."""
    return small_png(xmp_chunk(RDF % (b"", b"<rdf:Description><dc:title><rdf:Alt><rdf:li>x" + b"\1" * length
                                      + b"x</rdf:li></rdf:Alt></dc:title></rdf:Description>")))


def nested(depth):
    return small_png(xmp_chunk(RDF % (b"", b"<rdf:Description><dc:a>" + b"<rdf:Bag><rdf:li>" * depth
                                      + b"</rdf:li></rdf:Bag>" * depth + b"</dc:a></rdf:Description>")))


def namespaces(jpeg, length):
    """A JPEG with extended XMP: many elements inherit a long namespace."""
    xmp = RDF % (b' xmlns:p="' + b"n" * length + b'"', b"<rdf:Description/>" * (length // 5000 + 100))
    identity = hashlib.md5(xmp).hexdigest().upper().encode()
    note = RDF % (b"", b'<rdf:Description xmlns:xmpNote="http://ns.adobe.com/xmp/note/" '
                  b'xmpNote:HasExtendedXMP="' + identity + b'"></rdf:Description>')
    segments = [b"http://ns.adobe.com/xap/1.0/\0" + note]
    for start in range(0, len(xmp), 65_000):
        segments.append(b"http://ns.adobe.com/xmp/extension/\0" + identity
                        + struct.pack(">II", len(xmp), start) + xmp[start : start + 65_000])
    return jpeg[:2] + b"".join(
        b"\xff\xe1" + struct.pack(">H", len(part) + 2) + part for part in segments) + jpeg[2:]


def compressed_zeros(count, first=b""):
    made, block = zlib.compressobj(9), bytes(1 << 20)
    parts = [made.compress(first)]
    parts += [made.compress(block[: min(len(block), count - done)]) for done in range(0, count, len(block))]
    return b"".join(parts) + made.flush()


def gray_bomb(side, interlaced=0):
    """One bit per pixel, all 0."""
    return png(side, side, compressed_zeros(side * (side // 8 + 1)), depth=1, color=0, interlaced=interlaced)


def color_bomb(side):
    return png(side, side, compressed_zeros(side * (side * 4 + 1)), color=6)


def profile_bomb(length):
    """A profile that inflates to an excessive size."""
    return small_png(chunk(b"iCCP", b"icc\0\0" + compressed_zeros(length)))


def gif_bomb():
    """A canvas of the maximum size with an image of one pixel."""
    return (b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
            + b"\x2c" + struct.pack("<HHHHB", 0, 0, 65535, 65535, 0) + b"\x02\x02\x44\x01\0\x3b")


def tiff_pages(count):
    """A TIFF of `count` pages of one pixel each, which share a sample."""
    entries = [(256, 4, 1), (257, 4, 1), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1),
               (278, 4, 1), (279, 4, 1)]
    body = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    size, parts = 2 + len(body) + 4, [b"II*\0" + struct.pack("<I", 12) + b"\x80\0\0\0"]
    for page in range(count):
        following = 12 + (page + 1) * size if page + 1 < count else 0
        parts.append(struct.pack("<H", len(entries)) + body + struct.pack("<I", following))
    return b"".join(parts)


def slow_metadata(jpeg, scale=1.0):
    """Returns files with slow metadata by name; `scale` is relative to the largest metadata that is read."""
    most = int((16 << 20) * scale) - 4096
    return {
        "attributes.png": attributes(most), "control.png": control_characters(most),
        "nested.png": nested(int(90_000 * scale)), "namespaces.jpg": namespaces(jpeg, most // 2),
    }


def bombs(scale=1.0):
    side = int(20_000 * scale**0.5)
    return {
        "gray.png": gray_bomb(side), "laced.png": gray_bomb(side, interlaced=1),
        "color.png": color_bomb(int(8_000 * scale**0.5)), "profile.png": profile_bomb(int((1 << 30) * scale)),
        "huge.png": png(0x7FFFFFFF, 0x7FFFFFFF, zlib.compress(bytes(40))), "canvas.gif": gif_bomb(),
        "pages.tif": tiff_pages(int(20_000 * scale)),
    }
