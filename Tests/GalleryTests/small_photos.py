# SPDX-License-Identifier: Apache-2.0
"""Small JPEG files that look different."""

import io
import random

from PIL import Image

SIZES = [(300, 200), (200, 300), (320, 180), (240, 240)]


def small_photos(count=12):
    """Returns files of some kilobytes, always the same ones."""
    numbers = random.Random(1)
    photos = []
    for number in range(count):
        colours = bytes(numbers.randrange(256) for _ in range(8 * 8 * 3))
        image = Image.frombytes("RGB", (8, 8), colours).resize(SIZES[number % len(SIZES)], Image.Resampling.BICUBIC)
        file = io.BytesIO()
        image.save(file, "JPEG")
        photos.append(file.getvalue())
    return photos
