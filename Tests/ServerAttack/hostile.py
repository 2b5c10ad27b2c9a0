# SPDX-License-Identifier: Apache-2.0
"""Valid clients beside a hostile one: their times alone, and while one request in ten is hostile."""

import collections
import contextlib
import http.client
import itertools
import multiprocessing
import os
import random
import threading
import time

from calotype_server import Client, Server, quoted, raw_connection
from hostile_files import bombs, slow_metadata
from photographs import copy_photographs, fetch_all, renditions
from prober import sampled
from report import mebibytes, milliseconds, percentile

SECONDS, BRIEF_SECONDS = 180, 6
# The number of valid clients, and the mean seconds between the requests of each.
CLIENTS, PAUSE = 8, 0.1
COLD_SHARE, HOSTILE_SHARE = 0.1, 0.1
# The number of qualities in which each phase requests an image.
QUALITIES = 23
LISTED, BRIEF_LISTED = 100_001, 5_000
# The maximum concurrent hostile requests, and the number of their large files.
MANY_HOSTILE, MANY_LARGE = 100, 60
RATIO, WORST, BRIEF_WORST = 1.5, 0.5, 2.0
SIZES = ["64x64", "160x160,fill", "320x240", "512x512", "1024x1024"]
PATIENCE = 20


def run(context):
    folder = context.place / "photos"
    names = copy_photographs(context, folder, 8)
    attack = folder / "attack"
    attack.mkdir()
    files = hostile_files(context, (folder / names[0]).read_bytes())
    listed = BRIEF_LISTED if context.brief else LISTED
    many = folder / "many"
    many.mkdir()
    pixel = files["huge.png"]
    for number in range(listed):
        (many / f"{number}.png").write_bytes(pixel)
    seconds = context.seconds(SECONDS, BRIEF_SECONDS)
    with Server(context.program, folder, context.place / "cache") as server:
        hot = renditions(names, SIZES)
        with server.client() as client:
            references = {path: response.body for path, response in fetch_all(client, hot).items()}
            client.get("/-/listing/")
        # Until the server keeps what decodes of further sizes share.
        Good(server, names, references, context.seed, 2, max(seconds / 6, 1)).finish()
        alone = Good(server, names, references, context.seed, 0, max(seconds / 3, 3)).finish()
        rate = alone.count / alone.seconds * HOSTILE_SHARE / (1 - HOSTILE_SHARE)
        with sampled(server.resident_with_workers, 0.5) as memory:
            stranger = start_stranger(context, server, folder, files, names, rate, seconds, listed)
            among = Good(server, names, references, context.seed, 1, seconds).finish()
            asked = stranger()
        busy = seconds_until_idle(server)
        judge(context, server, alone, among, asked, rate)
        context.report.note("hostile", f"memory of host and workers: {mebibytes(max(memory))} at most")
        context.report.verdict(
            "hostile", "work for disconnected clients ends within 2 s", busy <= 2,
            f"{busy:.0f} s until host and workers are idle", busy=busy)
        status = server.stop()
        context.report.verdict("hostile", "the server exits with 0 after SIGTERM", status == 0, f"{status}")


def hostile_files(context, jpeg):
    scale = 0.1 if context.brief else 1.0
    files = slow_metadata(jpeg, scale) | bombs(scale)
    for length in (len(jpeg) // 8, len(jpeg) // 2, len(jpeg) - 100):
        files[f"cut{length}.jpg"] = jpeg[:length]
    more = context.more_files()
    for place in ("bombs", "found") if more and not context.brief else ():
        for file in sorted((more / place).glob("*")):
            if file.is_file() and file.suffix not in (".json", ".txt"):
                files[f"{place}-{file.name}"] = file.read_bytes()
    return files


def seconds_until_idle(server, most=60):
    """Returns the seconds for which host and workers compute after the last client has disconnected."""
    start, before = time.monotonic(), server.processor_seconds_with_workers()
    while time.monotonic() - start < most:
        time.sleep(0.5)
        now = server.processor_seconds_with_workers()
        # The time of a worker that ends disappears from the sum.
        if abs(now - before) < 0.1:
            return max(0.0, time.monotonic() - start - 0.5)
        before = now
    return most


def judge(context, server, alone, among, asked, rate):
    report = context.report
    report.note("hostile", f"alone {alone}")
    report.note("hostile", f"among {among}; {sum(asked.values())} hostile, {rate:.1f} a second: {dict(asked)}")
    report.verdict("hostile", "the host survives hostile clients", server.is_alive(), server.last_error()
                   if not server.is_alive() else "")
    report.verdict("hostile", "every valid request gets a response with the expected bytes", not among.wrong,
                   f"{len(among.wrong)} of {among.count} do not {among.wrong[:3]}", wrong=len(among.wrong))
    ratio = among.at(0.99) / max(alone.at(0.99), 1e-4)
    said = (f"{milliseconds(alone.at(0.99))} alone, {milliseconds(among.at(0.99))} among hostile ones: "
            f"{ratio:.1f} times")
    if context.brief:
        # A few seconds are too short to measure a percentile.
        report.note("hostile", said)
    else:
        report.verdict("hostile", "99 % of valid requests take at most 1.5 times as long", ratio <= RATIO,
                       said, alone=alone.at(0.99), among=among.at(0.99), ratio=ratio)
    worst = BRIEF_WORST if context.brief else WORST
    report.verdict("hostile", f"no valid request takes more than {worst} s", among.at(1) <= worst,
                   f"worst {milliseconds(among.at(1))}, {milliseconds(alone.at(1))} alone", worst=among.at(1))


class Good:
    """Valid clients in a separate process; cold requests differ between phases."""

    def __init__(self, server, names, references, seed, phase, seconds):
        self.seconds = seconds
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe(duplex=False)
        self.process = context.Process(
            target=good_clients, args=(server.port, names, references, seed, phase, seconds, other))
        self.process.start()
        other.close()

    def finish(self):
        self.cached, self.new, self.wrong = self.pipe.recv()
        self.process.join()
        self.times = self.cached + self.new
        self.count = len(self.times)
        return self

    def at(self, share):
        return percentile(self.times, share)

    def __str__(self):
        return (f"{self.count} valid requests in {self.seconds:.0f} s: p50 {milliseconds(self.at(0.5))}, "
                f"p99 {milliseconds(self.at(0.99))}, worst {milliseconds(self.at(1))}; p99 of cached renditions "
                f"{milliseconds(percentile(self.cached, 0.99))}, p90 of new ones "
                f"{milliseconds(percentile(self.new, 0.9))}")


def good_clients(port, names, references, seed, phase, seconds, pipe):
    cached, new, wrong, lock = [], [], [], threading.Lock()
    end = time.monotonic() + seconds
    # Every cold request is unique. Phases of any duration have the same mixture of sizes.
    cold = [f"/{side}x{side},fill,q{30 + QUALITIES * phase + quality}/{name}"
            for side in range(100, 1100, 50) for quality in range(QUALITIES) for name in names]
    random.Random(seed).shuffle(cold)

    def ask(client_number):
        rng = random.Random(seed * 1000 + client_number)
        client = Client(port)
        while time.monotonic() < end:
            time.sleep(rng.expovariate(1 / PAUSE))
            times, path = cached, rng.choice(list(references))
            if rng.random() < COLD_SHARE:
                times, path = new, cold.pop()
            start = time.monotonic()
            try:
                response = client.get(path)
                right = response.status == 200 and references.get(path, response.body) == response.body
                said = response.status
            except (OSError, http.client.HTTPException) as error:
                right, said = False, type(error).__name__
            with lock:
                times.append(time.monotonic() - start)
                if not right:
                    wrong.append(f"{path}: {said}")

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.send((cached, new, wrong))


def start_stranger(context, server, folder, files, names, rate, seconds, listed):
    """Starts the hostile clients; returns a function that waits for them and returns their requests by kind."""
    fork = multiprocessing.get_context("fork")
    pipe, other = fork.Pipe(duplex=False)
    process = fork.Process(target=Stranger(context, server, folder, files, names, listed).work,
                           args=(rate, seconds, other))
    process.start()
    other.close()

    def finish():
        asked = pipe.recv()
        process.join()
        return asked

    return finish


class Stranger:
    def __init__(self, context, server, folder, files, names, listed):
        self.rng = random.Random(context.seed + 1)
        self.port, self.folder, self.files, self.names = server.port, folder, files, names
        self.listed, self.number, self.asked = listed, itertools.count(), collections.Counter()
        self.large = collections.deque()
        # One IP address, which fairness by address distinguishes from the valid clients.
        self.source = context.stranger()
        self.slots = threading.BoundedSemaphore(MANY_HOSTILE)

    def work(self, rate, seconds, pipe):
        # Hostile clients would run on other machines. The system takes a processor for idle that runs only
        # processes of this policy; with a niceness of 19 instead, two busy processes that request nothing
        # double the 99th percentile of valid requests (Linux 6.18, two processors).
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(self.rng.expovariate(rate))
            kind = self.rng.choices(list(KINDS), list(KINDS.values()))[0]
            if self.slots.acquire(blocking=False):
                threading.Thread(target=self.attempt, args=(kind,), daemon=True).start()
            else:
                self.asked["not sent"] += 1
        pipe.send(self.asked)
        pipe.close()
        os._exit(0)

    def attempt(self, kind):
        self.asked[kind] += 1
        try:
            with contextlib.suppress(OSError, http.client.HTTPException):
                getattr(self, kind)()
        finally:
            self.slots.release()

    def get(self, path):
        with Client(self.port, source=self.source, timeout=PATIENCE) as client:
            client.get(path)

    def new_file(self, *kinds):
        """Writes a file that is not in quarantine: a known file with a few more bytes."""
        number = next(self.number)
        name = self.rng.choice([name for name in self.files if name.startswith(kinds)])
        new = f"{number}-{name}"
        (self.folder / "attack" / new).write_bytes(self.files[name] + b"%d" % number)
        if len(self.files[name]) > 1 << 20:
            self.large.append(new)
            if len(self.large) > MANY_LARGE:
                (self.folder / "attack" / self.large.popleft()).unlink()
        return quoted(new)

    def slow_information(self):
        self.get(f"/info/attack/{self.new_file('attributes', 'control', 'nested', 'namespaces', 'found')}")

    def slow_rendition(self):
        self.get(f"/64x64/attack/{self.new_file('namespaces', 'attributes', 'control', 'found')}")

    def bomb(self):
        self.get(f"/300x300/attack/{self.new_file(*[name for name in bombs(0.0001)], 'bombs')}")

    def cut(self):
        self.get(f"/200x200/attack/{self.new_file('cut')}")

    def listing(self):
        self.get(f"/-/listing/many?offset={self.rng.randrange(self.listed)}")

    def sprite(self):
        self.get(f"/sprite/128x128/attack?limit=1000&padding={self.rng.randrange(256)}")

    def enlargement(self):
        self.get(f"/{self.rng.randrange(5000, 8192)}x8192,up,png/{self.rng.choice(self.names)}")

    def blurred(self):
        self.get(f"/8192x{self.rng.randrange(5000, 8192)},up,blur100,avif/{self.rng.choice(self.names)}")

    def slow_reader(self):
        connection = raw_connection(
            self.port, f"GET /{self.names[-1]} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
            receive_buffer=4096, source=self.source)
        with contextlib.closing(connection):
            for _ in range(PATIENCE):
                connection.recv(100)
                time.sleep(1)

    def aborted(self):
        width = self.rng.randrange(500, 2000)
        path = f"/{width}x{width},q{self.rng.randrange(30, 95)},webp/{self.rng.choice(self.names)}"
        connection = raw_connection(self.port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
                                    source=self.source)
        time.sleep(self.rng.uniform(0, 0.05))
        connection.close()

    def nonsense(self):
        self.get(self.rng.choice(["/..%2fetc/passwd", "/0x0/0.jpg", "/" + "a" * 8000, "/64x64/missing.jpg"]))


# The weight of each kind of hostile request.
KINDS = {"slow_information": 3, "slow_rendition": 2, "bomb": 3, "cut": 2, "listing": 3, "sprite": 0.3,
         "enlargement": 0.5, "blurred": 0.5, "slow_reader": 2, "aborted": 3, "nonsense": 2}
