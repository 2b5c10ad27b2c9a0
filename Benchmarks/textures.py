#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the encoders of PVRTC, and compares those of ETC2, EAC and BC7 with etcpak: [--chart SVG] CALOTYPE PHOTOGRAPH...

Prints the PSNR and the CPU time of each effort for the middle of each photograph, at 512x512 pixels. All results are
decoded with texture2ddecoder. CPU times of calotype are those of the process without those of a conversion to
BMP. The chart shows the means over all photographs. Needs a Python with numpy, Pillow, etcpak and texture2ddecoder.
"""
import argparse
import os
import resource
import subprocess
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


PANEL_WIDTH, PANEL_HEIGHT, MARGIN = 300, 220, 46
TITLES = {
    "pvrtc2": "PVRTC, 2 bits", "pvrtc4": "PVRTC, 4 bits", "etc2": "ETC2", "eac-r": "EAC R11", "bc7": "BC7",
}


def panel(title, points):
    """An SVG group: the mean PSNR by the mean CPU time, which has a logarithmic axis."""
    times = [numpy.log10(max(time, 1)) for time, _, _ in points]
    ratios = [ratio for _, ratio, _ in points]
    left, right = numpy.floor(min(times)), numpy.ceil(max(times))
    low, high = numpy.floor(min(ratios)), numpy.ceil(max(ratios))

    def place(time, ratio):
        x = MARGIN + (numpy.log10(max(time, 1)) - left) / (right - left) * PANEL_WIDTH
        return x, MARGIN + (high - ratio) / (high - low) * PANEL_HEIGHT

    yield f'<text x="{MARGIN}" y="{MARGIN - 14}" font-weight="bold">{title}</text>'
    for power in range(int(left), int(right) + 1):
        x, _ = place(10.0**power, low)
        yield f'<path d="M{x:.0f} {MARGIN}v{PANEL_HEIGHT}" stroke="#ddd"/>'
        name = f"{10**power} ms" if power < 3 else f"{10**(power - 3)} s"
        yield f'<text x="{x:.0f}" y="{MARGIN + PANEL_HEIGHT + 16}" text-anchor="middle">{name}</text>'
    for ratio in range(int(low), int(high) + 1, max(1, int((high - low) / 5))):
        _, y = place(1, ratio)
        yield f'<path d="M{MARGIN} {y:.0f}h{PANEL_WIDTH}" stroke="#ddd"/>'
        yield f'<text x="{MARGIN - 6}" y="{y + 4:.0f}" text-anchor="end">{ratio} dB</text>'
    labels = {}
    own = sorted(point for point in points if point[2].startswith("calotype"))
    line = " ".join("{:.1f},{:.1f}".format(*place(time, ratio)) for time, ratio, _ in own)
    yield f'<polyline points="{line}" fill="none" stroke="#06c"/>'
    for time, ratio, name in points:
        x, y = place(time, ratio)
        color = "#06c" if name.startswith("calotype") else "#c40"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"><title>{name}</title></circle>'
    for time, ratio, name in points:
        if name == "calotype fastest" or not name.startswith("calotype"):
            labels[name.split()[0]] = place(time, ratio)
    for name, (x, y) in labels.items():
        yield f'<text x="{x + 7:.0f}" y="{y + 13:.0f}">{name}</text>'


def chart(results):
    """An SVG file with a panel for each format; `results` has the measurements by format and encoder."""
    width, height = PANEL_WIDTH + 2 * MARGIN, PANEL_HEIGHT + 2 * MARGIN
    columns = 2
    rows = -(-len(results) // columns)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * width} {rows * height}" '
           'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>')
    for index, (form, encoders) in enumerate(results.items()):
        points = [(*numpy.mean(values, axis=0), name) for name, values in encoders.items()]
        column, row = index % columns, index // columns
        yield f'<g transform="translate({column * width} {row * height})">'
        yield from panel(TITLES[form], points)
        yield "</g>"
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calotype", help="the calotype command")
    parser.add_argument("photographs", nargs="+")
    parser.add_argument("--chart", help="the SVG file to write")
    arguments = parser.parse_args()
    calotype = arguments.calotype
    results = {}
    for photograph in arguments.photographs:
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
            ratio = psnr(pixels, blocks, form)
            results.setdefault(form, {}).setdefault(name, []).append((time, ratio))
            print(f"  {form:6} {ratio:6.2f} dB {time:6.0f} ms  {name}")
    if arguments.chart:
        with open(arguments.chart, "w") as file:
            file.write("\n".join(chart(results)) + "\n")


if __name__ == "__main__":
    main()
