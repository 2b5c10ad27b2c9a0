# SPDX-License-Identifier: Apache-2.0
"""Rewrites a file in place while the server and the command read it.

Two images of different content and length alternate in one file. Writers truncate the file, copy over it,
or write its blocks in place; each write is short, and leaves a complete file for longer. A slow writer,
whose end no reader can detect, must only cause no crash.
"""

import collections
import http.client
import os
import random
import shutil
import subprocess
import threading
import time

from calotype_server import Server
from photographs import copy_photographs, fetch_all

SECONDS, BRIEF_SECONDS = 60, 6
CLIENTS = 4
ROUTES = ["/64x64/NAME", "/300x300/NAME", "/200x200,webp/NAME", "/info/NAME", "/placeholder/NAME?format=json",
          "/tiles/NAME.dzi", "/tiles/NAME_files/9/0_0.jpg", "/tiles/NAME_files/8/0_0.jpg",
          "/iiif/3/NAME/info.json", "/iiif/3/NAME/square/100,/0/default.jpg", "/sprite/64x64/",
          "/-/listing/", "/NAME"]
# Renditions of one image, each of which must belong to one of the two versions.
WHOLE = [route for route in ROUTES if route[1].isdigit() or route.startswith(("/tiles/NAME_f", "/iiif/3/NAME/s"))]
EXPECTED = {200, 404, 415, 422, 503}
NAME = "changing.jpg"
COMMANDS = [["info", "FILE"], ["thumbnail", "--size", "100", "-o", "OUT/a.jpg", "FILE"],
            ["convert", "FILE", "OUT/b.png"], ["info", "--json", "FILE"]]
BLOCK = 64 << 10


def run(context):
    folder = context.place / "versions"
    names = copy_photographs(context, folder, 7)
    # A large and a smaller file: the truncation removes mapped pages.
    versions = [folder / names[-1], folder / names[1]]
    accepted = collections.defaultdict(set)
    for number, version in enumerate(versions):
        place = context.place / f"version{number}"
        place.mkdir()
        shutil.copy(version, place / NAME)
        with Server(context.program, place, context.place / f"cache{number}") as server:
            with server.client() as client:
                paths = [route.replace("NAME", NAME) for route in WHOLE]
                for path, response in fetch_all(client, paths).items():
                    accepted[path].add(response.body)
    contents = [version.read_bytes() for version in versions]
    seconds = context.seconds(SECONDS, BRIEF_SECONDS) / len(WRITERS)
    total = Outcome()
    for writer in WRITERS:
        outcome = Race(context, writer, contents, accepted, seconds).run()
        total.add(outcome)
        if writer is not slowly:
            total.mixed += outcome.mixed
    judge(context.report, total)


def judge(report, total):
    report.verdict("races", "the host survives a file that is rewritten in place", not total.deaths,
                   f"{len(total.deaths)} deaths {total.deaths[:3]}", deaths=len(total.deaths))
    report.verdict("races", "no command is terminated by a signal", not total.signals,
                   f"{len(total.signals)} of {total.commands} {collections.Counter(total.signals).most_common(4)}",
                   signals=len(total.signals), commands=total.commands)
    report.verdict("races", "only images, errors, and 503 with Retry-After", not total.unexpected,
                   f"{dict(total.statuses.most_common())} {total.unexpected[:3]}",
                   unexpected=len(total.unexpected))
    report.verdict("races", "a rendition belongs to one of the two versions", not total.mixed,
                   f"{len(total.mixed)} of {total.compared} are neither "
                   f"{dict(collections.Counter(what.split()[0] for what in total.mixed))}",
                   mixed=len(total.mixed), compared=total.compared)


class Outcome:
    def __init__(self):
        self.statuses, self.deaths, self.signals = collections.Counter(), [], []
        self.unexpected, self.mixed, self.commands, self.compared = [], [], 0, 0

    def add(self, other):
        """Adds all results except mixed renditions, which only some writers must avoid."""
        self.statuses += other.statuses
        self.deaths += other.deaths
        self.signals += other.signals
        self.unexpected += other.unexpected
        self.commands += other.commands
        self.compared += other.compared


class Race:
    def __init__(self, context, writer, contents, accepted, seconds):
        self.context, self.writer, self.contents = context, writer, contents
        self.accepted, self.seconds = accepted, seconds
        self.place = context.place / writer.__name__
        (self.place / "photos").mkdir(parents=True)
        (self.place / "out").mkdir()
        self.file = self.place / "photos" / NAME
        self.file.write_bytes(contents[0])
        self.ended, self.lock, self.outcome = threading.Event(), threading.Lock(), Outcome()

    def run(self):
        self.server = Server(self.context.program, self.place / "photos", self.place / "cache")
        rng = random.Random(self.context.seed)
        threads = [threading.Thread(target=self.ask, args=(rng.random(),)) for _ in range(CLIENTS)]
        threads += [threading.Thread(target=self.write, args=(rng.random(),)),
                    threading.Thread(target=self.command, args=(rng.random(),))]
        for thread in threads:
            thread.start()
        end = time.monotonic() + self.seconds
        try:
            while time.monotonic() < end:
                time.sleep(0.05)
                if not self.server.is_alive():
                    self.outcome.deaths.append(
                        f"{self.writer.__name__}: {self.server.process.returncode} {self.server.last_error()}")
                    self.server.start()
        finally:
            self.ended.set()
            for thread in threads:
                thread.join()
            self.server.stop()
        return self.outcome

    def write(self, seed):
        rng, turn = random.Random(seed), 0
        while not self.ended.is_set():
            turn += 1
            self.writer(rng, self.file, self.contents[turn % 2])
            time.sleep(rng.uniform(0.002, 0.06))

    def ask(self, seed):
        rng, client = random.Random(seed), None
        while not self.ended.is_set():
            # Different routes read the file again.
            route = rng.choice(ROUTES)
            path, port = route.replace("NAME", NAME), self.server.port
            if client is None or client.connection.port != port:
                client = self.server.client(timeout=30)
            try:
                self.note(path, client.get(path))
            except (OSError, http.client.HTTPException):
                # The server crashed, or an original became shorter than its Content-Length.
                client.close()
                client = None
                self.outcome.statuses["lost"] += 1
                time.sleep(0.02)

    def note(self, path, response):
        status, outcome = response.status, self.outcome
        with self.lock:
            outcome.statuses[status] += 1
            if status not in EXPECTED:
                outcome.unexpected.append(f"{path}: {status} {response.body[:80]!r}")
            elif status == 503 and "Retry-After" not in response.headers:
                outcome.unexpected.append(f"{path}: 503 without Retry-After")
            elif status == 200 and path in self.accepted:
                outcome.compared += 1
                if response.body not in self.accepted[path]:
                    outcome.mixed.append(f"{self.writer.__name__} {path}")

    def command(self, seed):
        """Runs commands for the same file, one after the other."""
        rng = random.Random(seed)
        while not self.ended.is_set():
            words = [word.replace("FILE", str(self.file)).replace("OUT", str(self.place / "out"))
                     for word in rng.choice(COMMANDS)]
            done = subprocess.run(
                [self.context.program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120,
                env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
            self.outcome.commands += 1
            if done.returncode < 0 or done.returncode > 128:
                self.outcome.signals.append(f"{words[0]}: {done.returncode}")


def truncated_first(rng, file, content):
    """Truncates the file, then writes all of it."""
    with open(file, "r+b", buffering=0) as written:
        os.ftruncate(written.fileno(), rng.choice((0, 100, 5000, len(content) // 2)))
        written.write(content)
        os.ftruncate(written.fileno(), len(content))


def copied_over(rng, file, content):
    """Like `cp`: opens the file with O_TRUNC, and writes it in blocks."""
    with open(file, "wb", buffering=0) as written:
        for start in range(0, len(content), BLOCK):
            written.write(content[start : start + BLOCK])


def in_place(rng, file, content):
    """Like `rsync --inplace`: overwrites block by block, then truncates the file to its length."""
    with open(file, "r+b", buffering=0) as written:
        for start in range(0, len(content), BLOCK):
            written.write(content[start : start + BLOCK])
        os.ftruncate(written.fileno(), len(content))


def slowly(rng, file, content):
    """Like a camera: an empty file at first, then some bytes at a time."""
    with open(file, "wb", buffering=0) as written:
        step = len(content) // 10 + 1
        for start in range(0, len(content), step):
            written.write(content[start : start + step])
            time.sleep(0.005)


WRITERS = [truncated_first, copied_over, in_place, slowly]
