#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the encoders of PVRTC, and compares those of ETC2, EAC and BC7 with etcpak: CALOTYPE PHOTOGRAPH...

Prints the PSNR and the CPU time of each effort for the middle of each photograph, at 512x512 pixels. All results are
decoded with texture2ddecoder. CPU times of calotype are those of the process without those of a conversion to
BMP. Needs a Python with numpy, Pillow, etcpak and texture2ddecoder.
"""
import os
import resource
import subprocess
import sys
import tempfile

import etcpak
import numpy
import texture2ddecoder
from PIL import Image

SIDE = 512
EFFORTS = ["fastest", "fast", "normal", "high", "best"]
# The formats, and what decodes them to BGRA.
FORMATS = {
    "pvrtc2": lambda blocks, width, height: texture2ddecoder.decode_pvrtc(blocks, width, height, True),
    "pvrtc4": lambda blocks, width, height: texture2ddecoder.decode_pvrtc(blocks, width, height, False),
    "etc2": texture2ddecoder.decode_etc2, "eac-r": texture2ddecoder.decode_eacr,
    "bc7": texture2ddecoder.decode_bc7,
}
HEADER = 52


def cpu(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def measured(work, who=resource.RUSAGE_SELF):
    """The result and the least CPU time of three runs in milliseconds."""
    times = []
    for _ in range(3):
        start = cpu(who)
        result = work()
        times.append(cpu(who) - start)
    return result, min(times) * 1000


def psnr(pixels, blocks, form):
    decoded = numpy.frombuffer(FORMATS[form](bytes(blocks), SIDE, SIDE), numpy.uint8)
    decoded = decoded.reshape(SIDE, SIDE, 4)[..., [2, 1, 0]]
    channels = 1 if form == "eac-r" else 3
    difference = decoded[..., :channels].astype(int) - pixels[..., :channels].astype(int)
    return 10 * numpy.log10(255 * 255 / max(1e-9, numpy.mean(difference ** 2)))


def peers(pixels):
    """The encoders of etcpak by format and name."""
    # Some exchange red and blue in their input, which is therefore a copy each time.
    yield "etc2", "etcpak", lambda: etcpak.compress_etc2_rgb(pixels.tobytes(), SIDE, SIDE)
    yield "eac-r", "etcpak", lambda: etcpak.compress_eac_r(pixels.tobytes(), SIDE, SIDE)
    for level, partitions in [(0, 16), (0, 64), (1, 64), (4, 64)]:
        options = etcpak.BC7CompressBlockParams()
        options.init_linear_weights()
        options.m_perceptual = False
        options.m_uber_level = level
        options.m_max_partitions = partitions
        options.m_try_least_squares = True
        yield "bc7", f"etcpak (bc7enc), level {level}, {partitions} partitions", (
            lambda options=options: etcpak.compress_bc7(pixels.tobytes(), SIDE, SIDE, options))


def ours(calotype, path, folder):
    """The blocks and the CPU time by format and effort."""
    def run(*arguments):
        subprocess.run([calotype, *arguments, "--no-sandbox"], check=True, stderr=subprocess.DEVNULL)

    _, start = measured(lambda: run("convert", path, os.path.join(folder, "a.bmp")),
                        resource.RUSAGE_CHILDREN)
    for form in FORMATS:
        for effort in EFFORTS:
            output = os.path.join(folder, "a.pvr")
            # PVRTC is one format, with 2 or 4 bits per pixel.
            options = ["pvrtc", "--bits-per-pixel", form[-1]] if form.startswith("pvrtc") else [form]
            _, time = measured(
                lambda: run("texture", "encode", path, output, "--quality", effort, "--format", *options),
                resource.RUSAGE_CHILDREN)
            with open(output, "rb") as file:
                yield form, f"calotype {effort}", file.read()[HEADER:], time - start


def main():
    calotype = sys.argv[1]
    for photograph in sys.argv[2:]:
        print(os.path.basename(photograph))
        with Image.open(photograph) as image, tempfile.TemporaryDirectory() as folder:
            side = min(image.size)
            left, top = (image.width - side) // 2, (image.height - side) // 2
            image = image.convert("RGBA").crop((left, top, left + side, top + side))
            image = image.resize((SIDE, SIDE), Image.Resampling.LANCZOS)
            path = os.path.join(folder, "a.png")
            image.convert("RGB").save(path)
            pixels = numpy.array(image)
            rows = [(form, name, *measured(work)) for form, name, work in peers(pixels)]
            rows += ours(calotype, path, folder)
        for form, name, blocks, time in sorted(rows, key=lambda row: row[0]):
            print(f"  {form:6} {psnr(pixels, blocks, form):6.2f} dB {time:6.0f} ms  {name}")


if __name__ == "__main__":
    main()
