#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the library of the server: the index, the timeline and searches.

usage: library.py SERVER [--count 100000] [--distinct 100000] [--folder FOLDER]

Makes `count` photographs in folders by month over 20 years, of which `distinct` are different files and
the others further names of them (hard links), serves them with an empty cache, and prints one JSON object:
times in seconds as a client sees them, processor time of the server with its workers, memory.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

CAMERAS = [
    ("Canon", "Canon EOS 5D Mark III", "EF24-70mm f/2.8L"),
    ("NIKON CORPORATION", "NIKON D850", "AF-S 50mm f/1.8G"),
    ("Apple", "iPhone 12 Pro", "iPhone 12 Pro back camera 4.2mm f/1.6"),
]
TOPICS = ["trip", "birthday", "house", "garden", "beach", "mountain", "city", "zoo"]
QUERIES = ["i", "a", "b", "be", "apple", "canon 2015", "summer 2015", "camera:nikon beach", "zq",
           "format:jpeg", "near:48.2,11.5,5km", "garden rating:1"]


def exif(moment, camera, number):
    """Returns an APP1 segment with a date, a camera and, for every third image, a position."""
    def entries(values, start):
        table, data = b"", b""
        offset = start + 2 + 12 * len(values) + 4
        for tag, kind, count, content in values:
            if len(content) <= 4:
                field = content.ljust(4, b"\0")
            else:
                field = struct.pack("<I", offset + len(data))
                data += content + b"\0" * (len(content) % 2)
            table += struct.pack("<HHI", tag, kind, count) + field
        return struct.pack("<H", len(values)) + table + bytes(4) + data

    def text(tag, value):
        encoded = value.encode() + b"\0"
        return (tag, 2, len(encoded), encoded)

    exposure = [text(0x9003, time.strftime("%Y:%m:%d %H:%M:%S", time.gmtime(moment))),
                text(0xA434, camera[2])]
    position = []
    if number % 3 == 0:
        def angle(tag, degrees, minutes):
            return (tag, 5, 3, struct.pack("<6I", degrees, 1, minutes, 1, 0, 1))
        position = [text(1, "N"), angle(2, 48, number % 60), text(3, "E"), angle(4, 11, 30)]
    first = [text(0x010F, camera[0]), text(0x0110, camera[1])]
    pointers = [(0x8769, 4, 1, bytes(4))] + ([(0x8825, 4, 1, bytes(4))] if position else [])
    start = 8 + len(entries(first + pointers, 8))
    pointers[0] = (0x8769, 4, 1, struct.pack("<I", start))
    block = entries(exposure, start)
    if position:
        pointers[1] = (0x8825, 4, 1, struct.pack("<I", start + len(block)))
        block += entries(position, start + len(block))
    content = b"Exif\0\0II*\0" + struct.pack("<I", 8) + entries(first + pointers, 8) + block
    return b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content


def make(folder, count, distinct, bases):
    """Makes the files; returns the number of folders."""
    random.seed(7)
    start, step = 1_072_915_200, 20 * 365 * 86_400 / count
    made, paths = set(), []
    for number in range(count):
        moment = start + int(step * number)
        topic = TOPICS[number // 250 % len(TOPICS)]
        place = f"{folder}/{time.strftime('%Y/%Y-%m', time.gmtime(moment))} {topic}"
        if place not in made:
            os.makedirs(place)
            made.add(place)
        path = f"{place}/IMG_{number % 10_000:04}_{number // 10_000}.jpg"
        if number % max(1, count // distinct) == 0:
            base = bases[number % len(bases)]
            with open(path, "wb") as file:
                file.write(base[:2] + exif(moment, random.choice(CAMERAS), number) + base[2:])
            paths.append(path)
        else:
            os.link(paths[-1], path)
    return len(made)


def base_images(server):
    """Returns some small JPEG files."""
    images = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(12):
            path = f"{folder}/{number}.bmp"
            width, height = [(300, 200), (200, 300), (320, 180), (240, 240)][number % 4]
            rows = bytes((x * (number + 2) + y * y // 8) % 256
                         for y in range(height) for x in range(width) for _ in range(3))
            with open(path, "wb") as file:
                file.write(struct.pack("<2sIIIIiiHHIIiiII", b"BM", 54 + len(rows), 0, 54, 40, width,
                                       height, 1, 24, 0, len(rows), 2835, 2835, 0, 0) + rows)
            subprocess.run([server, "convert", path, f"{folder}/{number}.jpg"], check=True,
                           stdout=subprocess.DEVNULL)
            with open(f"{folder}/{number}.jpg", "rb") as file:
                images.append(file.read())
    return images


class Server:
    def __init__(self, program, folder, cache):
        self.start = time.monotonic()
        self.process = subprocess.Popen(
            [program, "serve", folder, "--port", "0", "--cache-directory", cache],
            stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as response:
            return response.read()

    def json(self, path):
        return json.loads(self.get("-/library/" + path))

    def first_images(self):
        """Requests the timeline and the thumbnails of its first screen; returns the time since the start."""
        while True:
            timeline = self.json("timeline")
            if timeline["total"] > 0:
                break
            time.sleep(0.01)
        images = self.json("images?limit=30")["pictures"]
        for folder, name in list(zip(images["folder"], images["name"]))[:20]:
            self.get(urllib.parse.quote(f"{folder}/256x256/{name}".lstrip("/")))
        return time.monotonic() - self.start

    def wait(self):
        while self.json("status")["state"] != "complete":
            time.sleep(0.2)
        return time.monotonic() - self.start

    def cpu(self):
        """The processor time of the server, its ended workers and the running ones."""
        ticks = os.sysconf("SC_CLK_TCK")
        total = 0
        for process in os.listdir("/proc"):
            if not process.isdigit():
                continue
            try:
                with open(f"/proc/{process}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(process) == self.process.pid:
                total += sum(map(int, fields[11:15]))
            elif int(fields[1]) == self.process.pid:
                total += sum(map(int, fields[11:13]))
        return total / ticks

    def memory(self, field="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(field))

    def archive(self, path, count):
        """Downloads originals as an archive; returns by how many KiB the memory of the server grows at most.

        `unzip` tests the archive.
        """
        images = []
        while len(images) < count:
            found = self.json(f"images?limit=500&offset={len(images)}")["pictures"]
            if not found["name"]:
                break
            images += [f"{folder}/{name}".lstrip("/") for folder, name in zip(found["folder"], found["name"])]
        order = json.dumps({"images": images[:count], "size": None}).encode()
        request = urllib.request.Request(
            f"{self.url}-/download", order, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:
            place = json.load(response)["url"]
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")  # The peak starts again from the current value.
        before = self.memory()
        with urllib.request.urlopen(self.url + place.lstrip("/")) as response, open(path, "wb") as file:
            shutil.copyfileobj(response, file)
        after = self.memory("VmHWM")
        subprocess.run(["unzip", "-tqq", path], check=True)
        return after - before

    def stop(self):
        self.process.terminate()
        self.process.wait()


def measured(server, path, times=7):
    durations = []
    for _ in range(times):
        start = time.monotonic()
        body = server.get("-/library/" + path)
        durations.append(time.monotonic() - start)
    return statistics.median(durations), body


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("server")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--distinct", type=int)
    parser.add_argument("--folder", help="an existing folder of photographs instead")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="calotype-library-")
    try:
        folder = options.folder
        if folder is None:
            folder = f"{work}/photos"
            make(folder, options.count, options.distinct or options.count,
                 base_images(options.server))
        result = {}
        server = Server(options.server, folder, f"{work}/cache")
        result["memory before, KiB"] = server.memory()
        result["first images, empty cache"] = server.first_images()
        result["index complete"] = server.wait()
        result["index, processor time"] = server.cpu()
        result["memory after, KiB"] = server.memory()
        result["images"] = server.json("status")["found"]
        server.stop()
        server = Server(options.server, folder, f"{work}/cache")
        result["first images, with index"] = server.first_images()
        result["check of all files"] = server.wait()
        result["check, processor time"] = server.cpu()
        seconds, body = measured(server, "timeline")
        result["timeline"] = {"seconds": seconds, "bytes": len(body)}
        result["a day in the middle"] = measured(server, "images?first=2014-01-01&limit=200")[0]
        result["searches"] = {}
        for query in QUERIES:
            quoted = urllib.parse.quote(query)
            seconds, body = measured(server, f"timeline?q={quoted}")
            page, _ = measured(server, f"images?limit=100&q={quoted}")
            result["searches"][query] = {
                "seconds": seconds, "page": page, "matches": json.loads(body)["total"]}
        result["completions"] = measured(server, "completions?q=ca")[0]
        result["archive of 1,000 originals, KiB of memory"] = server.archive(f"{work}/archive.zip", 1000)
        result["memory at the end, KiB"] = server.memory()
        server.stop()
        json.dump(result, sys.stdout, indent=2)
        print()
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
