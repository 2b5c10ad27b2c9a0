# SPDX-License-Identifier: Apache-2.0
"""Converts an image to sRGB with Pillow, by its profile if it has one; CMYK without a profile by products."""

import io
import sys

from PIL import Image, ImageCms

image = Image.open(sys.argv[1])
profile = image.info.get("icc_profile")
if profile:
    source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    image = ImageCms.profileToProfile(
        image, source, ImageCms.createProfile("sRGB"), outputMode="RGB"
    )
else:
    image = image.convert("RGB")
sys.stdout.buffer.write(f"P7 {image.width} {image.height} 3\n".encode())
sys.stdout.buffer.write(image.tobytes())
