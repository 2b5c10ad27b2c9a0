# SPDX-License-Identifier: Apache-2.0
"""Measures effects on a photograph of 12 megapixels, in memory, with one thread each.

Compares effects-bench with libvips (pyvips) and Pillow: the fastest of several runs in alternation, in
CPU time. The chain of six effects is exposure, brightness, contrast, saturation, gamma and tint; further ones
are contrast, gamma, saturation and gamma.
Also compares the blurs, and those of libvips, with an exact Gaussian. Usage: effects.py EFFECTS-BENCH [PHOTO].
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["VIPS_CONCURRENCY"] = "1"

import numpy as np
import pyvips
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter

import images

ROUNDS = 3
SIZE = (4000, 3000)
COUNTS = ("six", "seven", "eight", "nine", "ten")
BLURS = (0.5, 1, 2, 3, 8, 30)


def vips_six(image):
    linear = image.colourspace("scrgb") * (2 ** 0.3)
    image = linear.colourspace("srgb").copy(interpretation="srgb")
    image = (image + 255 * 0.02).cast("uchar")
    image = (image * 1.1 - 255 * 0.05).cast("uchar")
    luma = [0.2126, 0.7152, 0.0722]
    saturate = [[weight * -0.2 + (1.2 if row == column else 0)
                 for column, weight in enumerate(luma)] for row in range(3)]
    image = image.recomb(saturate).cast("uchar")
    image = image.gamma(exponent=1 / 0.9).cast("uchar")
    tint = [0.1 * 255 * channel for channel in (0.9, 0.8, 0.6)]
    return image.linear([0.9] * 3, tint).cast("uchar").copy(interpretation="srgb")


def vips_mark(image):
    disc = (pyvips.Image.xyz(400, 400) - 200)
    inside = (disc ** 2)
    alpha = ((inside[0] + inside[1]) < 40000).ifthenelse(153, 0).cast("uchar")
    white = pyvips.Image.black(400, 400, bands=3).linear(1, 255).cast("uchar")
    mark = white.bandjoin(alpha).copy(interpretation="srgb")
    return image.composite2(mark, "over", x=image.width - 440, y=image.height - 440)


VIPS = {
    "exposure": lambda image: (image.colourspace("scrgb") * (2 ** 0.3)).colourspace("srgb"),
    "six": vips_six,
    "sharpen": lambda image: image.sharpen(sigma=1),
    "six+sharpen": lambda image: vips_six(image).sharpen(sigma=1),
    "six+sharpen+watermark": lambda image: vips_mark(vips_six(image).sharpen(sigma=1)),
    **{f"blur{sigma}": lambda image, sigma=sigma: image.gaussblur(sigma) for sigma in BLURS},
}


def pillow_six(image):
    def light(value):
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    def signal(value):
        return value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055

    table = [round(255 * min(1, signal(light(value / 255) * 2 ** 0.3))) for value in range(256)]
    image = image.point(table * 3)
    image = image.point([min(255, round(value + 255 * 0.02)) for value in range(256)] * 3)
    image = ImageEnhance.Contrast(image).enhance(1.1)
    image = ImageEnhance.Color(image).enhance(1.2)
    image = image.point([round(255 * (value / 255) ** 0.9) for value in range(256)] * 3)
    return Image.blend(image, Image.new("RGB", image.size, (230, 204, 153)), 0.1)


def pillow_mark(image):
    mask = Image.new("L", (400, 400))
    ImageDraw.Draw(mask).ellipse((0, 0, 399, 399), fill=153)
    image.paste((255, 255, 255), (image.width - 440, image.height - 440), mask)
    return image


def pillow_sharpen(image):
    return image.filter(ImageFilter.UnsharpMask(radius=1, percent=100, threshold=0))


PILLOW = {
    "six": pillow_six,
    "sharpen": pillow_sharpen,
    "six+sharpen": lambda image: pillow_sharpen(pillow_six(image)),
    "six+sharpen+watermark": lambda image: pillow_mark(pillow_sharpen(pillow_six(image))),
    **{f"blur{sigma}": lambda image, sigma=sigma: image.filter(ImageFilter.GaussianBlur(sigma))
       for sigma in BLURS},
}


def measured(work):
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def gaussian(image, sigma):
    """Convolves with a Gaussian, truncated at 6 standard deviations; edge pixels are repeated."""
    radius = int(6 * sigma + 0.5)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        margins = [(radius, radius) if axis == other else (0, 0) for other in range(3)]
        padded = np.pad(image, margins, mode="edge")
        length = image.shape[axis]
        image = sum(
            weight * np.take(padded, range(start, start + length), axis)
            for start, weight in enumerate(weights))
    return image


def psnr(result, exact):
    error = np.mean((result.astype(np.float64) - exact) ** 2)
    return 10 * np.log10(255 ** 2 / error)


def main():
    bench = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        photo = Image.open(sys.argv[2]) if len(sys.argv) > 2 else images.photograph(Path(folder))
        photo = photo.convert("RGB").resize(SIZE)
    width, height = photo.size
    vips = pyvips.Image.new_from_memory(photo.tobytes(), width, height, 3, "uchar") \
        .copy(interpretation="srgb")
    chains = ["none", "exposure", "six", "seven", "eight", "nine", "ten", "sharpen", "six+sharpen",
              *(f"{count}+sharpen+watermark" for count in COUNTS), *(f"blur{sigma}" for sigma in BLURS)]
    exact = np.asarray(photo)
    print(f"{width}x{height} RGB, 8 bits; CPU in ms, memory above the source in MiB")
    print("| effect                  | calotype | memory | libvips | ratio | Pillow | ratio | PSNR |")
    print("|-------------------------|----------|--------|---------|-------|--------|-------|------|")
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/source.rgb", f"{folder}/target.rgb"
        with open(source, "wb") as file:
            file.write(photo.tobytes())
        for chain in chains:
            own, theirs, pillow, memory = [], [], [], 0
            for _ in range(ROUNDS):
                output = subprocess.run(
                    [bench, source, str(width), str(height), chain, target], check=True,
                    capture_output=True, text=True).stdout.split()
                own.append(float(output[0]))
                memory = int(output[1])
                if chain in VIPS:
                    theirs.append(measured(lambda: VIPS[chain](vips).write_to_memory()))
                if chain in PILLOW:
                    pillow.append(measured(lambda: PILLOW[chain](photo)))
            cells = [f"{chain:23}", f"{min(own):8.0f}", f"{memory / 2**20:6.1f}"]
            for peer, width_ in ((theirs, 7), (pillow, 6)):
                cells.append(f"{min(peer):{width_}.0f}" if peer else " " * width_)
                cells.append(f"{min(own) / min(peer):5.2f}" if peer else " " * 5)
            quality = " " * 4
            if chain.startswith("blur"):
                sigma = float(chain[4:])
                # A corner, because the exact convolution of all takes minutes.
                part = exact[:900, :1200].astype(np.float64)
                blurred = gaussian(part, sigma)[:600, :800]
                result = np.fromfile(target, np.uint8).reshape(exact.shape)[:600, :800]
                peer = VIPS[chain](vips).crop(0, 0, 800, 600).numpy()
                quality = f"{psnr(result, blurred):4.1f} (libvips {psnr(peer, blurred):4.1f})"
            print("| " + " | ".join([*cells, quality]) + " |", flush=True)


if __name__ == "__main__":
    main()
