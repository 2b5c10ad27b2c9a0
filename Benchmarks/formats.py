# SPDX-License-Identifier: Apache-2.0
"""Measures thumbnails of 400 pixels from a 12-megapixel image in each format.

Compares `calotype thumbnail` with `vipsthumbnail` and Pillow, one thread each, in alternation. CPU
time is the slope between 1 and 3 files per process, without start-up; memory is the peak of a
process with one file. A dash means that a tool cannot read the format. Needs a Python with Pillow.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import thumbnails

COPIES = 3
FORMATS = {
    "png": [], "webp": ["--quality", "80"], "gif": [], "tiff": [], "jp2": ["--quality", "80"],
    "avif": ["--quality", "80"], "jxl": ["--quality", "80"],
    "webp lossless": ["--lossless"], "jp2 lossless": ["--lossless"], "bmp": [],
}
PILLOW = """
import sys
from PIL import Image
Image.MAX_IMAGE_PIXELS = None
for source in sys.argv[2:]:
    with Image.open(source) as image:
        if image.mode in ("P", "1"):
            image = image.convert("RGB")
        image.thumbnail((400, 400), Image.Resampling.LANCZOS, reducing_gap=3.0)
        image.convert("RGB").save(sys.argv[1], quality=80)
"""


def tools(calotype, folder):
    return {
        "calotype": lambda files: (
            [calotype, "thumbnail", "--size", "400", "--quality", "80", "--jobs", "1", "--quiet",
             "--output", f"{folder}/a-{{name}}.jpg", *files], {}),
        "vips": lambda files: (
            ["vipsthumbnail", "--size", "400", "-o", f"{folder}/b-%s.jpg[Q=80,strip]", *files],
            # Without warnings, which would interrupt the table.
            {"VIPS_CONCURRENCY": "1", "VIPS_WARNING": "1"}),
        "Pillow": lambda files: (
            [sys.executable, "-c", PILLOW, f"{folder}/c.jpg", *files], {}),
    }


def can_read(command, environment):
    done = subprocess.run(command, env={**thumbnails.os.environ, **environment},
                          capture_output=True, text=True)
    # vipsthumbnail exits with 0 and prints a message if it cannot read a file.
    return done.returncode == 0 and "unable" not in done.stderr


def contest(calotype, source, rounds):
    """The CPU milliseconds per file and the MiB of memory, by tool."""
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        copies = [str(Path(folder) / f"{index}{source.suffix}") for index in range(COPIES)]
        for copy in copies:
            thumbnails.os.link(source, copy)
        able = {
            name: command for name, command in tools(calotype, folder).items()
            if can_read(*command(copies[:1]))
        }
        times = {name: [] for name in able}
        peaks = {name: [] for name in able}
        for _ in range(rounds):
            for name, command in able.items():
                one, peak, _ = thumbnails.measure(*command(copies[:1]))
                many, _, _ = thumbnails.measure(*command(copies))
                times[name].append((many - one) / (COPIES - 1))
                peaks[name].append(peak / 1024)
        return {
            name: (statistics.median(times[name]), statistics.median(peaks[name])) for name in able
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calotype", help="the calotype command")
    parser.add_argument("--rounds", type=int, default=3, help="the number of rounds")
    parser.add_argument("--formats", help="comma-separated formats (default: all)")
    arguments = parser.parse_args()
    calotype = str(Path(arguments.calotype).resolve())
    chosen = arguments.formats.split(",") if arguments.formats else FORMATS
    with tempfile.TemporaryDirectory(prefix="calotype-bench-") as folder:
        folder = Path(folder)
        inputs, origin = thumbnails.make_inputs(folder)
        width, height = thumbnails.pixel_size(inputs["JPEG baseline"])
        print(f"Image: {origin}, {width}x{height}. Medians of {arguments.rounds} alternating rounds, "
              "1 thread each.\n")
        print("| format        | calotype          | vips              | Pillow            | ratio |")
        print("|---------------|-------------------|-------------------|-------------------|-------|")
        for name in chosen:
            source = folder / f"{name.replace(' ', '-')}.{name.split()[0]}"
            thumbnails.run(
                calotype, "convert", inputs["JPEG baseline"], source, "--metadata", "color",
                *FORMATS[name])
            results = contest(calotype, source, arguments.rounds)
            peers = [results[tool][0] for tool in ("vips", "Pillow") if tool in results]
            ratio = f"{results['calotype'][0] / min(peers):5.2f}" if peers else "    -"
            cells = [
                f"{results[tool][0]:7.0f} ms {results[tool][1]:4.0f} MiB" if tool in results
                else f"{'-':>17}" for tool in ("calotype", "vips", "Pillow")
            ]
            print(f"| {name:<13} | {' | '.join(cells)} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
