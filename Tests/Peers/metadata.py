# SPDX-License-Identifier: Apache-2.0
"""Prints the metadata that Pillow reads from images: FILE..., one JSON object per line.

Numbers come as text. A file or a value that Pillow cannot read is left out.
"""

import json
import sys

from PIL import ExifTags, Image

TEXTS = {0x010E: "description", 0x010F: "make", 0x0110: "model", 0x0131: "software",
         0x013B: "artist", 0x0132: "modified"}
EXPOSURE_TEXTS = {0x9003: "taken", 0x9004: "digitized", 0xA434: "lensModel"}
EXPOSURE_NUMBERS = {0x829A: "exposureTime", 0x829D: "fNumber", 0x9204: "exposureBias",
                    0x920A: "focalLength", 0x8827: "iso", 0x8822: "exposureProgram",
                    0x9207: "meteringMode", 0x9209: "flash", 0xA403: "whiteBalance",
                    0xA405: "focalLengthIn35mm", 0xA002: "width", 0xA003: "height"}


def text(value):
    if isinstance(value, str):
        value = value.encode("latin-1", "replace")
    value = value.split(b"\0")[0]
    try:
        value = value.decode("utf-8")
    except UnicodeDecodeError:
        value = value.decode("latin-1")
    return value.strip()


def number(value):
    if isinstance(value, tuple):
        value = value[0]
    return repr(float(value))


def angle(values, reference, negative):
    degrees = [float(v) for v in values] + [0.0, 0.0]
    value = degrees[0] + degrees[1] / 60 + degrees[2] / 3600
    return repr(-value if text(reference) == negative else value)


def facts(path):
    image = Image.open(path)
    found = {}
    exif = image.getexif()
    exposure = exif.get_ifd(ExifTags.IFD.Exif)
    location = exif.get_ifd(ExifTags.IFD.GPSInfo)

    def put(name, convert, *values):
        try:
            value = convert(*values)
        except (TypeError, ValueError, ZeroDivisionError, KeyError, IndexError, AttributeError):
            return
        if value not in ("", "nan"):
            found[name] = value

    for tag, name in TEXTS.items():
        if tag in exif:
            put(name, text, exif[tag])
    for tag, name in EXPOSURE_TEXTS.items():
        if tag in exposure:
            put(name, text, exposure[tag])
    for tag, name in EXPOSURE_NUMBERS.items():
        if tag in exposure:
            put(name, number, exposure[tag])
    if 0x0112 in exif:
        put("orientation", number, exif[0x0112])
    if 2 in location and 4 in location:
        put("latitude", angle, location[2], location.get(1, "N"), "S")
        put("longitude", angle, location[4], location.get(3, "E"), "W")
    if image.format == "JPEG":
        block = image.info.get("exif", b"")
        if block[:6] == b"Exif\0\0":
            found["exif"] = block[6:].hex()
        if "xmp" in image.info:
            found["xmp"] = image.info["xmp"].hex()
        records = image.info.get("photoshop", {}).get(0x0404)
        if records:
            found["iptc"] = records.hex()
    elif "xmp" in image.info:
        found["xmp"] = image.info["xmp"].hex()
    return found


for path in sys.argv[1:]:
    try:
        print(json.dumps({"file": path, **facts(path)}))
    except Exception as error:
        print(json.dumps({"file": path, "error": type(error).__name__}))
