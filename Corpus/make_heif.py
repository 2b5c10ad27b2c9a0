# SPDX-License-Identifier: Apache-2.0
"""Makes the HEIC files of this folder again; needs pillow-heif, which can encode HEVC."""

import pathlib

import pillow_heif
from PIL import Image

here = pathlib.Path(__file__).parent / "heif/valid"
here.mkdir(parents=True, exist_ok=True)
SIZE = (64, 48)


def picture(mode):
    image = Image.new(mode, SIZE)
    for y in range(SIZE[1]):
        for x in range(SIZE[0]):
            pixel = (x * 4, y * 5, (x + y) * 2, 255 - x * 3)
            image.putpixel((x, y), pixel[: len(mode)])
    return image


def save(name, pictures, **options):
    pillow_heif.register_heif_opener()
    pictures[0].save(
        here / name, save_all=len(pictures) > 1, append_images=pictures[1:], **options
    )


save("rgb.heic", [picture("RGB")], quality=90)
save("rgba.heic", [picture("RGBA")], quality=90)
save("full.heic", [picture("RGB")], quality=90, chroma=444)
save("two-pages.heic", [picture("RGB"), picture("RGB").transpose(Image.FLIP_LEFT_RIGHT)], quality=80)
save("thumbnail.heic", [picture("RGB")], quality=90, thumbnails=[32])
