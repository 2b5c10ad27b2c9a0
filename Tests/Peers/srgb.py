# SPDX-License-Identifier: Apache-2.0
"""Turns a picture into sRGB with Pillow, by its profile if it has one; bare inks by plain products."""

import io
import sys

from PIL import Image, ImageCms

picture = Image.open(sys.argv[1])
profile = picture.info.get("icc_profile")
if profile:
    source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    picture = ImageCms.profileToProfile(
        picture, source, ImageCms.createProfile("sRGB"), outputMode="RGB"
    )
else:
    picture = picture.convert("RGB")
sys.stdout.buffer.write(f"P7 {picture.width} {picture.height} 3\n".encode())
sys.stdout.buffer.write(picture.tobytes())
