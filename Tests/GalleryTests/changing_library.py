# SPDX-License-Identifier: Apache-2.0
"""A folder of small images that show their own numbers, and are added, changed, moved and removed."""

import os
import random
import shutil
import struct
import zlib
from collections import defaultdict

SIZES = [(64, 64), (96, 64), (64, 96)]
FOLDERS = ["", "2021", "2022/spring", "2022/autumn", "trip", "trip/day 1", "ümlaut & co"]

# Times between 2019 and 2022; each image has a second of its own, so that the order is certain.
FIRST_TIME, LAST_TIME = 1_546_300_800, 1_640_995_200


def png(number):
    """Returns an image of 4 × 4 gray fields, one for each bit of a number below 65,536."""
    width, height = SIZES[number % len(SIZES)]
    bits = [number >> bit & 1 for bit in range(16)]
    rows = []
    for y in range(height):
        fields = bits[y * 4 // height * 4:][:4]
        rows.append(b"\0" + b"".join(bytes([40 + 170 * field]) * (width // 4) for field in fields))

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    # The file of a number has a length of its own.
    text = b"Comment\0" + b" " * (number % 97)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"tEXt", text) + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))


class ChangingLibrary:
    """What the folder contains is known here, and not read from the server."""

    def __init__(self, root, count, seed):
        self.root = root
        self.random = random.Random(seed)
        # The number and the time of each image, by path.
        self.images = {}
        # All numbers that a path has had.
        self.numbers = defaultdict(set)
        self.times = set()
        # The names of files that were written under their own names, and incomplete for a moment.
        self.written_in_place = set()
        self.next_number = 0
        self.next_name = 0
        self.change_count = 0
        for folder in FOLDERS:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for _ in range(count):
            self.add()
        self.change_count = 0

    def newest_first(self):
        """Returns `(path, number)` in the order of the timeline."""
        return [(path, number) for path, (number, _) in
                sorted(self.images.items(), key=lambda item: -item[1][1])]

    def by_name(self, folder):
        """Returns `(path, number)` of the images of a folder in the order of their names."""
        return [(path, number) for path, (number, _) in sorted(self.images.items())
                if path.rpartition("/")[0] == folder]

    def apply(self, count, near=()):
        """Makes changes, half of them to the images of `near`, paths that are on screen."""
        end = self.change_count + count
        while self.change_count < end:
            change = self.random.choices(
                [self.add, self.change, self.move, self.remove, self.exchange, self.touch, self.move_folder],
                [30, 20, 20, 20, 5, 5, 0.2])[0]
            known = [path for path in near if path in self.images]
            chosen = self.random.choice(known) if known and self.random.random() < 0.5 else None
            change(chosen)

    def add(self, _=None):
        path = self.new_path()
        number, seconds = self.new_number(), self.new_time()
        if self.random.random() < 0.5:
            # As a camera or a program for synchronization does: complete under another name first.
            temporary = self.root / f".part-{number}"
            self.write(temporary, number, seconds)
            temporary.rename(self.root / path)
        else:
            self.write(self.root / path, number, seconds)
        self.set(path, number, seconds)

    def change(self, path=None):
        path = path or self.any()
        number = self.new_number()
        kept = self.images[path][1]
        if self.random.random() < 0.5:
            temporary = self.root / f".part-{number}"
            # Another file of the same time.
            self.write(temporary, number, kept)
            temporary.rename(self.root / path)
            self.set(path, number, kept)
        else:
            seconds = self.new_time()
            self.write(self.root / path, number, seconds)
            self.set(path, number, seconds)

    def move(self, path=None):
        path = path or self.any()
        goal = self.new_path()
        (self.root / path).rename(self.root / goal)
        self.set(goal, *self.images.pop(path))

    def remove(self, path=None):
        path = path or self.any()
        (self.root / path).unlink()
        del self.images[path]
        self.change_count += 1

    def touch(self, path=None):
        """Changes nothing but the time."""
        path = path or self.any()
        seconds = self.new_time()
        os.utime(self.root / path, (seconds, seconds))
        self.set(path, self.images[path][0], seconds)

    def exchange(self, path=None, other=None):
        """Exchanges the names of two images."""
        path, other = path or self.any(), other or self.any()
        if path == other:
            return
        for source, goal in ((path, ".exchanged"), (other, path), (".exchanged", other)):
            (self.root / source).rename(self.root / goal)
        first, second = self.images[path], self.images[other]
        self.set(path, *second)
        self.set(other, *first)

    def move_folder(self, _=None):
        """Renames a folder with all its images."""
        folder = self.random.choice(FOLDERS[1:])
        inside = [path for path in self.images if path.startswith(folder + "/")]
        goal = f"moved {self.next_name}"
        self.next_name += 1
        shutil.move(self.root / folder, self.root / goal)
        for path in inside:
            self.set(goal + path[len(folder):], *self.images.pop(path))
        for name in FOLDERS:
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def any(self):
        return self.random.choice(list(self.images))

    def write(self, path, number, seconds):
        if not path.name.startswith("."):
            self.written_in_place.add(path.name)
        path.write_bytes(png(number))
        os.utime(path, (seconds, seconds))

    def set(self, path, number, seconds):
        self.images[path] = (number, seconds)
        self.numbers[path].add(number)
        self.change_count += 1

    def new_number(self):
        self.next_number += 1
        return self.next_number & 0xFFFF

    def new_time(self):
        while True:
            seconds = self.random.randrange(FIRST_TIME, LAST_TIME)
            if seconds not in self.times:
                self.times.add(seconds)
                return seconds

    def new_path(self):
        self.next_name += 1
        folder = self.random.choice(FOLDERS)
        return f"{folder}/i{self.next_name:06}.png".lstrip("/")

