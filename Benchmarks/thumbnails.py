# SPDX-License-Identifier: Apache-2.0
"""Measures CPU time and peak memory of `calotype thumbnail` against `vipsthumbnail`.

Both create thumbnails of 400 pixels at quality 80 from the same 12-megapixel image as baseline JPEG,
progressive JPEG and PNG, and from a drawn screenshot of 4 megapixels as PNG, on one thread, in
alternation, so that other load affects both. "One file" is a whole process; "each further" is the slope
between 1 and N files per process, without start-up. All figures are medians of the rounds. Needs Pillow
and the DejaVu fonts.
"""

import argparse
import os
import platform
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import images

ROOT = Path(__file__).resolve().parent.parent
PHOTOGRAPH = "photos/caliterra/IMG_9384.jpg"
WALLPAPER = "/usr/share/backgrounds/mate/nature/Wood.jpg"


# Starts a command from a small process: the peak memory of a child is at least that of its parent, and
# a child of Popen includes some CPU time of Python.
STARTER = """
import os, sys, time
actions = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
begin = time.perf_counter()
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, usage = os.wait4(process, 0)
elapsed = time.perf_counter() - begin
code = os.waitstatus_to_exitcode(status)
print(code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, elapsed)
"""


def measure(command, environment=None):
    """Runs a command; returns its CPU time in ms, peak resident memory in KiB and wall time in ms."""
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", STARTER, *command], check=True, text=True,
        stdout=subprocess.PIPE, env={**os.environ, **(environment or {})}).stdout
    code, seconds, peak, elapsed = answer.split()
    if code != "0":
        sys.exit(f"{command[0]} failed with exit code {code}: {' '.join(command[:4])} …")
    return float(seconds) * 1000, int(peak), float(elapsed) * 1000


def pixel_size(jpeg):
    """The width and height in the frame header of a JPEG file."""
    data = Path(jpeg).read_bytes()
    position = 2
    while position + 9 < len(data):
        marker, length = data[position + 1], struct.unpack(">H", data[position + 2:position + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[position + 5:position + 9])
            return width, height
        position += 2 + length
    raise ValueError("no frame header")


def make_inputs(folder):
    """Writes the image in three formats; returns the files by name, and their origin."""
    corpus = Path(os.environ.get("CALOTYPE_CORPUS", ROOT.parent / "shared/corpus"))
    photograph = corpus / PHOTOGRAPH
    baseline = folder / "baseline.jpg"
    if photograph.exists():
        origin = f"{PHOTOGRAPH} of the corpus"
        run("jpegtran", "-copy", "none", "-outfile", baseline, photograph)
    else:
        origin = f"{WALLPAPER}, enlarged to 4000x3000, because the corpus is missing"
        run("vips", "thumbnail", WALLPAPER, f"{baseline}[Q=92,strip]", "4000",
            "--height", "3000", "--size", "force")
    run("jpegtran", "-copy", "none", "-progressive", "-outfile", folder / "progressive.jpg", baseline)
    run("vips", "copy", baseline, folder / "picture.png")
    inputs = {
        "JPEG baseline": baseline,
        "JPEG progressive": folder / "progressive.jpg",
        "PNG": folder / "picture.png",
    }
    return inputs, origin


def make_screenshots(folder):
    """Writes flat images as PNG; returns the files by name."""
    shot = images.screenshot()
    inputs = {"PNG, flat": folder / "flat.png", "PNG, flat palette": folder / "palette.png"}
    shot.save(inputs["PNG, flat"])
    shot.quantize(256, dither=0).save(inputs["PNG, flat palette"])
    return inputs


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


class Contest:
    """An input for both tools."""

    def __init__(self, calotype, source, count, folder):
        self.calotype, self.folder = calotype, folder
        self.sources = [folder / f"{index}-{source.name}" for index in range(count)]
        for copy in self.sources:
            os.link(source, copy)

    def commands(self, sources):
        """The command, environment and output files of each tool."""
        names = [str(source) for source in sources]
        pattern = self.folder / "a-{name}.jpg"
        return {
            "calotype": (
                [self.calotype, "thumbnail", "--size", "400", "--quality", "80", "--jobs", "1",
                 "--quiet", "--output", str(pattern), *names], {},
                [self.folder / f"a-{source.stem}.jpg" for source in sources]),
            "vips": (
                ["vipsthumbnail", "--size", "400",
                 "-o", str(self.folder / "b-%s.jpg[Q=80,strip]"), *names],
                {"VIPS_CONCURRENCY": "1"},
                [self.folder / f"b-{source.stem}.jpg" for source in sources]),
        }

    def round(self, sources):
        """Runs both tools once; returns the result of `measure` for each."""
        results = {}
        for name, (command, environment, outputs) in self.commands(sources).items():
            results[name] = measure(command, environment)
            for output in outputs:
                self.check(output)
                output.unlink()
        return results

    def check(self, output):
        if not output.exists():
            sys.exit(f"{output.name} was not written")
        if max(pixel_size(output)) != 400:
            sys.exit(f"{output.name} has {pixel_size(output)} pixels")


def contest(calotype, name, source, arguments):
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        pair = Contest(calotype, source, arguments.files, Path(folder))
        pair.round(pair.sources[:1])  # fills the page cache
        alone, many = [], []
        for _ in range(arguments.rounds):
            alone.append(pair.round(pair.sources[:1]))
            many.append(pair.round(pair.sources))

    def median(rounds, tool, column):
        return statistics.median(result[tool][column] for result in rounds)

    one = {tool: median(alone, tool, 0) for tool in ("calotype", "vips")}
    further = {
        tool: statistics.median(
            (all_files[tool][0] - single[tool][0]) / (arguments.files - 1)
            for single, all_files in zip(alone, many))
        for tool in ("calotype", "vips")
    }
    memory = {tool: median(alone, tool, 1) / 1024 for tool in ("calotype", "vips")}
    for what, unit, values in (
            ("CPU, one file", "ms", one), ("CPU, each further", "ms", further),
            ("peak memory", "MiB", memory)):
        ratio = values["calotype"] / values["vips"] if values["vips"] > 0 else float("nan")
        print(f"| {name:<17} | {what:<17} | {values['calotype']:8.1f} {unit:<3} "
              f"| {values['vips']:8.1f} {unit:<3} | {ratio:5.2f} |")


def first_line(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def start_time(calotype, rounds):
    """The median wall time of the command without work, in ms."""
    return statistics.median(
        measure([calotype, "thumbnail", "--help"])[2] for _ in range(rounds * 4))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calotype", help="the calotype command")
    parser.add_argument("--rounds", type=int, default=9, help="the number of rounds")
    parser.add_argument("--files", type=int, default=8, help="the number of files per process for the slope")
    arguments = parser.parse_args()
    calotype = str(Path(arguments.calotype).resolve())
    for tool in ("vipsthumbnail", "vips", "jpegtran"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is not installed")

    with tempfile.TemporaryDirectory(prefix="calotype-bench-") as folder:
        inputs, origin = make_inputs(Path(folder))
        inputs |= make_screenshots(Path(folder))
        print(f"{first_line(calotype, '--version')}; {first_line('vipsthumbnail', '--vips-version')}")
        print(f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}")
        print(f"Image: {origin}. Medians of {arguments.rounds} alternating rounds, 1 thread each.\n")
        print("| input             | what              |     calotype |         vips | ratio |")
        print("|-------------------|-------------------|--------------|--------------|-------|")
        for name, source in inputs.items():
            contest(calotype, name, source, arguments)
        print(f"\nstart of calotype thumbnail --help: {start_time(calotype, arguments.rounds):.1f} ms")


if __name__ == "__main__":
    main()
