# SPDX-License-Identifier: Apache-2.0
"""Measures the Python package against Pillow, simplejpeg with OpenCV, and the command.

usage: python.py CALOTYPE [--rounds N] [--files N] [--calls N]

Each library makes an array of 400 pixels on the longer side from the same JPEG file of 12 megapixels, in alternation,
so that other load affects all; figures are medians. Needs the packages calotype, numpy, Pillow, simplejpeg and
opencv-python-headless: see scripts/bench.
"""

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy
import PIL.Image
import simplejpeg

import calotype

ROOT = Path(__file__).resolve().parent.parent
PHOTOGRAPH = "photos/caliterra/IMG_9384.jpg"
WALLPAPER = "/usr/share/backgrounds/mate/nature/Wood.jpg"
SIDE = 400


def with_calotype(path):
    return numpy.asarray(calotype.open(path).thumbnail((SIDE, SIDE)))


def with_half_chroma(path):
    return numpy.asarray(calotype.open(path).thumbnail((SIDE, SIDE), half_chroma=True))


def with_fast_calotype(path):
    return numpy.asarray(calotype.open(path).thumbnail((SIDE, SIDE), fast=True))


def with_pillow(path):
    image = PIL.Image.open(path)
    image.draft("RGB", (SIDE, SIDE))
    image.thumbnail((SIDE, SIDE), PIL.Image.Resampling.LANCZOS)
    return numpy.asarray(image)


def resized(array):
    height, width = array.shape[:2]
    scale = SIDE / max(width, height)
    return cv2.resize(array, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)


def with_simplejpeg(path):
    data = Path(path).read_bytes()
    return resized(simplejpeg.decode_jpeg(data, "RGB", min_height=SIDE, min_width=SIDE))


def with_opencv(path):
    return resized(cv2.imread(str(path), cv2.IMREAD_REDUCED_COLOR_8))


LIBRARIES = {
    "calotype": with_calotype, "calotype, half_chroma": with_half_chroma, "calotype, fast": with_fast_calotype,
    "Pillow, draft and thumbnail": with_pillow,
    "simplejpeg and OpenCV": with_simplejpeg, "OpenCV at an eighth": with_opencv}


def similarity(path, decode):
    """The PSNR in dB to the whole image, reduced by Pillow with the Lanczos kernel."""
    reference = PIL.Image.open(path).convert("RGB")
    array = decode(path).astype(float)
    expected = numpy.asarray(
        reference.resize((array.shape[1], array.shape[0]), PIL.Image.Resampling.LANCZOS)).astype(float)
    if decode is with_opencv:
        array = array[:, :, ::-1]
    return 10 * numpy.log10(255**2 / numpy.square(array - expected).mean())


def decode_times(path, rounds):
    """The CPU time of each library in ms, by name."""
    times = {name: [] for name in LIBRARIES}
    for decode in LIBRARIES.values():
        decode(path)
    for _ in range(rounds):
        for name, decode in LIBRARIES.items():
            begin = time.process_time()
            decode(path)
            times[name].append((time.process_time() - begin) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def child_time(command):
    """The CPU time and the wall time of a command in seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - begin


def command_time(program, paths, folder, jobs=1):
    return child_time([program, "thumbnail", "--no-sandbox", "-j", str(jobs), "--size", str(SIDE),
                       "--output", folder, *map(str, paths)])


def command_decode_time(program, paths, folder, rounds):
    """The CPU time of the command for each further file in ms, encoding and writing included."""
    slopes = []
    for _ in range(rounds):
        first = command_time(program, paths[:1], folder)[0]
        slopes.append((command_time(program, paths[:11], folder)[0] - first) / 10 * 1000)
    return statistics.median(slopes)


def throughput(path, thread_count, call_count=30):
    """Calls a second on several threads."""
    def work():
        for _ in range(call_count):
            with_calotype(path)

    threads = [threading.Thread(target=work) for _ in range(thread_count)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return thread_count * call_count / (time.perf_counter() - begin)


def rate(count, work):
    """The files a second of a function, and its CPU time for each file in ms."""
    begin, cpu_begin = time.perf_counter(), time.process_time()
    work()
    return count / (time.perf_counter() - begin), (time.process_time() - cpu_begin) / count * 1000


def run_batch(paths):
    for _ in calotype.batch(paths, (SIDE, SIDE), workers=2, half_chroma=True):
        pass


def encode_all(paths):
    """Encodes each result as JPEG, as the command does."""
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(lambda path: calotype.open(path).encode_thumbnail((SIDE, SIDE), quality=80), paths):
            pass


def print_rates(program, paths, folder):
    rows = {"batch": [], "encoded as JPEG": [], "calotype thumbnail -j 2": []}
    for _ in range(3):
        rows["batch"].append(rate(len(paths), lambda: run_batch(paths)))
        rows["encoded as JPEG"].append(rate(len(paths), lambda: encode_all(paths)))
        cpu, wall = command_time(program, paths, f"{folder}/output/", jobs=2)
        rows["calotype thumbnail -j 2"].append((len(paths) / wall, cpu / len(paths) * 1000))
    print(f"{len(paths)} files on two threads:")
    for name, values in rows.items():
        files, cpu = (statistics.median(column) for column in zip(*values))
        print(f"  {name:30} {files:7.1f} files/s   {cpu:5.2f} ms of CPU a file")


def resident_kibibytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def memory_after_calls(folder, count):
    """The resident memory in KiB after a hundredth, a tenth and all calls; every tenth call takes an error path."""
    small = folder / "gradient.jpg"
    PIL.Image.radial_gradient("L").convert("RGB").save(small)
    damaged = small.read_bytes()[:200]
    result = []
    for call in range(1, count + 1):
        if call % 10 == 0:
            try:
                calotype.open_bytes(damaged).decode()
            except calotype.CalotypeError:
                pass
        else:
            numpy.from_dlpack(calotype.open(small).thumbnail((64, 64)))
        if call in (count // 100, count // 10, count):
            result.append((call, resident_kibibytes()))
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("calotype")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--calls", type=int, default=100_000)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    corpus = Path(os.environ.get("CALOTYPE_CORPUS", ROOT.parent / "shared/corpus"))
    path = corpus / PHOTOGRAPH
    if not path.is_file():
        path = Path(WALLPAPER)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        paths = [folder / f"{index:05}.jpg" for index in range(max(arguments.files, 11))]
        for link in paths:
            link.symlink_to(path)
        print(f"{path.name}, {calotype.open(path).size}, CPU ms for an array of {SIDE} px:")
        times = decode_times(path, arguments.rounds)
        for name, value in times.items():
            quality = similarity(path, LIBRARIES[name])
            print(f"  {name:30} {value:7.2f}   {times['calotype'] / value:5.2f}x   PSNR {quality:.1f} dB")
        value = command_decode_time(arguments.calotype, paths, f"{folder}/output/", 5)
        print(f"  {'calotype thumbnail, a file':30} {value:7.2f}   {times['calotype'] / value:5.2f}x")
        scaling = statistics.median(throughput(path, 2) / throughput(path, 1) for _ in range(5))
        print(f"two threads: {scaling:.2f}x the calls a second of one")
        print_rates(arguments.calotype, paths, folder)
        for call, kibibytes in memory_after_calls(folder, arguments.calls):
            print(f"resident memory after {call} calls: {kibibytes} KiB")


main()
