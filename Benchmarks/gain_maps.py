# SPDX-License-Identifier: Apache-2.0
"""Measures Ultra HDR thumbnails of 1024 pixels from Ultra HDR photographs.

Compares `calotype thumbnail` with libvips 8.18 (pyvips, `thumbnail` and `uhdrsave`), one thread each, in
alternation: the CPU time per file as the slope between 1 and 3 files per process, without start-up, the
bytes of the thumbnail and of its map, and the error in HDR. That is the peak signal-to-noise ratio of
PQ signals at full headroom, compared with the original in HDR that is reduced in linear light. Needs a
Python with pyvips and numpy.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import numpy
import pyvips

import thumbnails

COPIES = 3
SIDE = 1024
QUALITY = 80
VIPS = f"""
import sys
import pyvips
pyvips.cache_set_max(0)
for source in sys.argv[2:]:
    pyvips.Image.thumbnail(source, {SIDE}).uhdrsave(sys.argv[1], Q={QUALITY})
"""


def commands(calotype, folder):
    def own(*options):
        return lambda files: (
            [calotype, "thumbnail", "--size", str(SIDE), "--quality", str(QUALITY), "--jobs", "1",
             "--quiet", "--output", f"{folder}/{{name}}.small.jpg", *options, *files], {})

    return {
        "calotype": own(),
        "calotype, no map": own("--gain-map", "drop"),
        "libvips": lambda files: (
            [sys.executable, "-c", VIPS, f"{folder}/vips.jpg", *files],
            {"VIPS_CONCURRENCY": "1"}),
    }


def cpu_times(calotype, source, rounds):
    """The median CPU milliseconds per file, by command."""
    with tempfile.TemporaryDirectory() as folder:
        copies = [f"{folder}/{index}.jpg" for index in range(COPIES)]
        for copy in copies:
            shutil.copy(source, copy)
        able = commands(calotype, folder)
        times = {name: [] for name in able}
        for _ in range(rounds):
            for name, command in able.items():
                one, _, _ = thumbnails.measure(*command(copies[:1]))
                many, _, _ = thumbnails.measure(*command(copies))
                times[name].append((many - one) / (COPIES - 1))
        return {name: statistics.median(values) for name, values in times.items()}


def signals(light):
    """The PQ signals of light relative to 203 cd/m2 (ITU-R BT.2100, table 4)."""
    power = numpy.power(numpy.clip(light * 203 / 10000, 0, 1), 1305 / 8192)
    return numpy.power((107 / 128 + 2413 / 128 * power) / (1 + 2392 / 128 * power), 2523 / 32)


def in_hdr(path):
    return pyvips.Image.uhdrload(str(path)).uhdr2scRGB()


def noise_ratio(image, original):
    wanted = original.resize(
        image.width / original.width, vscale=image.height / original.height, kernel="lanczos3")
    error = signals(image.numpy()[:, :, :3]) - signals(wanted.numpy()[:, :, :3])
    return -10 * numpy.log10(numpy.mean(error**2))


def qualities(calotype, source):
    """For each tool: the bytes of the file and of its map, and the noise ratio in dB."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {"calotype": f"{folder}/own.jpg", "libvips": f"{folder}/vips.jpg"}
        # libvips keeps the colour profile as well.
        thumbnails.run(
            calotype, "convert", source, paths["calotype"], "--size", str(SIDE), "--keep-profile",
            "--metadata", "color", "--quality", str(QUALITY))
        pyvips.Image.thumbnail(str(source), SIDE).uhdrsave(
            paths["libvips"], Q=QUALITY, keep="icc:gainmap")
        original = in_hdr(source)
        return {
            name: (
                os.path.getsize(path),
                len(pyvips.Image.uhdrload(path).get("gainmap-data")),
                noise_ratio(in_hdr(path), original),
            )
            for name, path in paths.items()
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calotype", help="the calotype command")
    parser.add_argument("files", nargs="+", type=Path, help="Ultra HDR files")
    parser.add_argument("--rounds", type=int, default=5, help="the number of rounds")
    arguments = parser.parse_args()
    # Results are cached by name otherwise.
    pyvips.cache_set_max(0)
    calotype = str(Path(arguments.calotype).resolve())
    print(f"Medians of {arguments.rounds} alternating rounds, 1 thread each.\n")
    print("| file     | tool             | CPU     | file     | map     | error   |")
    print("|----------|------------------|---------|----------|---------|---------|")
    for source in arguments.files:
        found = qualities(calotype, source)
        for name, time in cpu_times(calotype, source, arguments.rounds).items():
            cells = f"{'-':>8} | {'-':>7} | {'-':>7}"
            if name in found:
                size, map_size, ratio = found[name]
                cells = f"{size:8} | {map_size:7} | {ratio:4.1f} dB"
            print(f"| {source.name:<8} | {name:<16} | {time:4.0f} ms | {cells} |", flush=True)


if __name__ == "__main__":
    main()
