# SPDX-License-Identifier: Apache-2.0
"""Decodes an image of the HEIF family to RGBA of 8 bits a sample, turned upright: FILE [FRAME].

Pillow reads AVIF, pillow-heif, where it is installed, HEIC. No profile is applied.
"""

import sys

from PIL import Image, ImageOps

try:
    import pillow_heif

    pillow_heif.register_heif_opener(thumbnails=False)
except ImportError:
    pass

Image.MAX_IMAGE_PIXELS = None
image = Image.open(sys.argv[1])
if len(sys.argv) > 2:
    image.seek(int(sys.argv[2]))
image.load()
if image.format == "AVIF":
    # Pillow reports irot and imir as EXIF orientation; that of XMP is ignored.
    image.info.pop("xmp", None)
    image = ImageOps.exif_transpose(image)
image = image.convert("RGBA")
out = sys.stdout.buffer
out.write(f"P7 {image.width} {image.height} 4\n".encode())
out.write(image.tobytes())
