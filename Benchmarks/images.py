# SPDX-License-Identifier: Apache-2.0
"""Creates the inputs of decode-bench: common kinds of PNG files.

A photograph of 12 megapixels, a screenshot of 4 (RGB, and with a palette) and flat art of 4 with
alpha; each saved by Pillow with default options and with `optimize`. Needs Pillow and the DejaVu
fonts.
"""

import argparse
import math
import os
import random
import subprocess
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent
PHOTOGRAPH = "photos/caliterra/IMG_9384.jpg"
WALLPAPER = "/usr/share/backgrounds/mate/nature/Wood.jpg"
FONTS = Path("/usr/share/fonts/truetype/dejavu")
WORDS = ("the quick brown fox jumps over a lazy dog while seven wizards boil their potions and "
         "return func let var struct guard throws await row column picture filter chunk").split()


def photograph(folder):
    """The image of thumbnails.py."""
    corpus = Path(os.environ.get("CALOTYPE_CORPUS", ROOT.parent / "shared/corpus"))
    if (corpus / PHOTOGRAPH).exists():
        return Image.open(corpus / PHOTOGRAPH).convert("RGB")
    enlarged = folder / "wallpaper.jpg"
    subprocess.run(
        ["vips", "thumbnail", WALLPAPER, f"{enlarged}[Q=92,strip]", "4000", "--height", "3000",
         "--size", "force"], check=True)
    image = Image.open(enlarged).convert("RGB")
    enlarged.unlink()
    return image


def font(name, size):
    return ImageFont.truetype(str(FONTS / f"{name}.ttf"), size)


def window(draw, box, title, chance, dark):
    """Draws a window with a title, a side bar and text."""
    left, top, right, bottom = box
    paper, ink = ((30, 32, 38), (212, 214, 220)) if dark else ((255, 255, 255), (32, 32, 36))
    draw.rectangle((left + 6, top + 8, right + 8, bottom + 10), fill=(20, 52, 90))
    draw.rounded_rectangle(box, 12, fill=paper, outline=(120, 120, 128))
    draw.rounded_rectangle((left, top, right, top + 40), 12, fill=(222, 222, 226))
    for index, colour in enumerate(((255, 95, 87), (254, 188, 46), (40, 200, 64))):
        x = left + 20 + index * 24
        draw.ellipse((x - 7, top + 13, x + 7, top + 27), fill=colour)
    draw.text((left + 110, top + 10), title, font=font("DejaVuSans-Bold", 16), fill=(60, 60, 64))
    draw.rectangle((left + 1, top + 41, left + 180, bottom - 12),
                   fill=(40, 43, 50) if dark else (244, 245, 247))
    face = font("DejaVuSans", 15)
    for line, y in enumerate(range(top + 56, bottom - 40, 30)):
        draw.text((left + 18, y), chance.choice(WORDS), font=face, fill=ink)
        draw.rectangle((left + 6, y + 4, left + 12, y + 12), fill=(52, 120 + line * 5 % 100, 246))
    face = font("DejaVuSansMono" if dark else "DejaVuSans", 16)
    for y in range(top + 56, bottom - 34, 22):
        if chance.random() < 0.12:
            continue
        indent = chance.choice((0, 0, 1, 2)) * 30
        x = left + 200 + indent
        while x < right - 160 and chance.random() > 0.06:
            word = chance.choice(WORDS)
            colour = ink if chance.random() < 0.75 else chance.choice(
                ((198, 120, 221), (97, 175, 239), (152, 195, 121), (224, 108, 117)))
            draw.text((x, y), word, font=face, fill=colour)
            x += int(face.getlength(word + " "))


def screenshot():
    """2560×1600: windows with anti-aliased text over flat areas."""
    chance = random.Random(7)
    image = Image.new("RGB", (2560, 1600), (38, 84, 138))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 2560, 32), fill=(236, 236, 240))
    draw.text((20, 6), "Calotype   File   Edit   View   Window   Help",
              font=font("DejaVuSans", 16), fill=(30, 30, 30))
    window(draw, (60, 80, 1280, 1080), "Notes", chance, dark=False)
    window(draw, (900, 420, 2440, 1500), "PNGFilter.swift", chance, dark=True)
    window(draw, (1500, 60, 2500, 640), "Letters", chance, dark=False)
    return image


def gradient(size, chance, alpha):
    """A linear RGBA gradient of two random colours in a random direction."""
    one, other = (Image.new("RGBA", size, tuple(chance.randrange(256) for _ in range(3)) + (alpha,))
                  for _ in range(2))
    longest = max(size) * 2
    ramp = Image.linear_gradient("L").resize((longest, longest), Image.Resampling.BICUBIC)
    ramp = ramp.rotate(chance.randrange(360), Image.Resampling.BILINEAR)
    left, top = (longest - size[0]) // 2, (longest - size[1]) // 2
    return Image.composite(one, other, ramp.crop((left, top, left + size[0], top + size[1])))


def shape(size, chance):
    """An anti-aliased mask: a polygon or an ellipse."""
    mask = Image.new("L", (size[0] * 2, size[1] * 2))
    draw = ImageDraw.Draw(mask)
    corners, turn = chance.choice((0, 0, 3, 4, 5, 6)), chance.random() * 6
    if corners:
        draw.polygon([(size[0] * (1 + math.cos(2 * math.pi * k / corners + turn)),
                       size[1] * (1 + math.sin(2 * math.pi * k / corners + turn)))
                      for k in range(corners)], fill=255)
    else:
        draw.ellipse((0, 0, size[0] * 2 - 1, size[1] * 2 - 1), fill=255)
    return mask.resize(size, Image.Resampling.BOX)


def flat_art():
    """2048×2048 RGBA: gradients and anti-aliased shapes, some translucent, on a background that is
    transparent at the bottom."""
    chance = random.Random(3)
    image = Image.new("RGBA", (2048, 2048))
    image.paste(gradient((2048, 1900), chance, 255), (0, 0))
    for index in range(60):
        size = (chance.randrange(80, 700), chance.randrange(80, 700))
        alpha = chance.choice((255, 255, 160))
        colours = gradient(size, chance, alpha) if index % 3 == 0 else Image.new(
            "RGBA", size, tuple(chance.randrange(256) for _ in range(3)) + (alpha,))
        layer = Image.new("RGBA", image.size)
        layer.paste(colours, (chance.randrange(-100, 1800), chance.randrange(-100, 1500)),
                    shape(size, chance))
        image = Image.alpha_composite(image, layer)
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the output folder")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    shot = screenshot()
    images = {
        "photograph": photograph(folder),
        "screenshot": shot,
        "screenshot-palette": shot.quantize(256, dither=Image.Dither.NONE),
        "flat-art": flat_art(),
    }
    for name, image in images.items():
        for suffix, options in (("", {}), ("-optimized", {"optimize": True})):
            path = folder / f"{name}{suffix}.png"
            image.save(path, **options)
            print(f"{path.name}: {image.width}x{image.height} {image.mode}, "
                  f"{path.stat().st_size / 1e6:.2f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
