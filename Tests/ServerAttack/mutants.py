# SPDX-License-Identifier: Apache-2.0
"""Sends damaged files of all formats through one server with little memory."""

import collections
import concurrent.futures
import http.client
import itertools
import random
import shutil
import statistics
import threading
import time

from calotype_server import CORPUS, MEBIBYTE, Server, ServerEnded, quoted
from photographs import copy_photographs
from mutation import mutant
from prober import probed, sampled
from report import mebibytes, milliseconds

COUNT, BRIEF_COUNT = 100_000, 800
BATCH, CLIENTS = 200, 6
LONGEST_ANSWER = 5.0
GROWTH = 64 * MEBIBYTE
# The maximum growth in the second half, and the number of mutants from which it is judged.
FLAT, FLAT_COUNT = 8 * MEBIBYTE, 20_000
LARGEST_FILE = 128 << 10
SUFFIXES = {
    "avif": ["avif"], "bmp": ["bmp"], "cur": ["cur"], "gif": ["gif"], "heif": ["heic", "heif"],
    "ico": ["ico"], "jpeg": ["jpg", "jpeg"], "jpeg2000": ["jp2", "j2k"], "jpegxl": ["jxl"],
    "jpng": ["jpng"], "png": ["png"], "qoi": ["qoi"], "tiff": ["tif", "tiff"], "webp": ["webp"],
    "xbm": ["xbm"],
}
# The statuses of responses; 503 means that the server is overloaded.
EXPECTED = {200, 404, 415, 422, 503}


def run(context):
    Run(context).run()


class Run:
    def __init__(self, context):
        self.context, self.report = context, context.report
        self.rng = random.Random(context.seed)
        self.count = context.count(COUNT, BRIEF_COUNT)
        self.folder = context.place / "photos"
        self.folder.mkdir()
        self.statuses, self.slow, self.unexpected = collections.Counter(), [], []
        self.deaths, self.strange, self.done = [], [], 0
        self.slowest = (0.0, "")
        self.lock, self.local = threading.Lock(), threading.local()

    def run(self):
        self.sources = sources(self.rng, self.context.more_files())
        files = sum(map(len, self.sources.values()))
        self.report.note("mutants", f"{files} files of {len(self.sources)} formats, seed {self.context.seed}")
        self.canary = copy_photographs(self.context, self.folder, 2)[-1]
        self.server = Server(
            self.context.program, self.folder, self.context.place / "cache", "--memory", "64MiB",
            "--cache-size", "50MB")
        try:
            self.warm()
            self.attack()
        finally:
            self.server.stop()
        self.judge()

    def warm(self):
        """Requests valid files of every format over every route, so that one-time initialization does not
        count as growth."""
        self.start_resident = self.server.resident()
        with self.server.client() as client:
            self.reference = client.get(f"/200x200/{self.canary}").body
            whole = self.folder / "whole"
            whole.mkdir()
            for name, data in self.named(self.sources, lambda data, _: data):
                (whole / name).write_bytes(data)
                for path in itertools.islice(requests(self.rng, "whole", name), 3):
                    client.get(path)
            client.get("/-/listing/whole?limit=100")
            client.get("/sprite/64x64/whole?limit=100")
        self.warm_resident = self.server.resident()

    def named(self, sources, change):
        number = 0
        for name, files in sources.items():
            for data in files:
                number += 1
                yield f"{number}.{SUFFIXES[name][0]}", change(data, files)

    def attack(self):
        pool = concurrent.futures.ThreadPoolExecutor(CLIENTS)
        started = time.monotonic()
        self.health = []
        waiting = collections.deque()
        formats = sorted(self.sources)
        with (probed(self.server.port) as health,
              sampled(lambda: (self.done, self.server.resident())) as self.memory):
            for batch in range((self.count + BATCH - 1) // BATCH):
                waiting.append(self.send(pool, batch, formats))
                if len(waiting) > 1:
                    self.finish(*waiting.popleft())
                    if not self.server.is_alive() and not self.revive(health):
                        break
            while waiting:
                self.finish(*waiting.popleft())
            if not self.server.is_alive():
                self.revive(health)
        self.health = health.times
        pool.shutdown()
        self.seconds = time.monotonic() - started

    def send(self, pool, batch, formats):
        """Writes a batch of mutants, and requests each of them."""
        name = f"b{batch}"
        folder = self.folder / name
        folder.mkdir()
        jobs = []
        shutil.copy(self.folder / self.canary, folder / "canary.jpg")
        for number in range(min(BATCH, self.count - batch * BATCH)):
            form = formats[(batch * BATCH + number) % len(formats)]
            files = self.sources[form]
            file = f"{number}.{self.rng.choice(SUFFIXES[form])}"
            (folder / file).write_bytes(mutant(self.rng, self.rng.choice(files), files))
            paths = itertools.islice(requests(self.rng, name, file), self.rng.choice((1, 2, 3)))
            jobs += [pool.submit(self.ask, path) for path in paths]
            if number == 100:
                jobs.append(pool.submit(self.look, f"/{name}/200x200/canary.jpg"))
                jobs.append(pool.submit(self.look, f"/200x200/{self.canary}"))
        offset = self.rng.randrange(BATCH - 20)
        jobs.append(pool.submit(self.ask, f"/sprite/48x48/{name}?offset={offset}&limit=20"))
        jobs.append(pool.submit(self.ask, f"/-/listing/{name}?offset={offset}&limit=40"))
        return folder, jobs

    def finish(self, folder, jobs):
        for job in jobs:
            job.result()
        self.done += min(BATCH, self.count - self.done)
        if self.server.is_alive():
            shutil.rmtree(folder)

    def client(self):
        """Returns the connection of this thread to the current server."""
        client = getattr(self.local, "client", None)
        if client is None or client.connection.port != self.server.port:
            client = self.local.client = self.server.client(timeout=60)
        return client

    def ask(self, path):
        start = time.monotonic()
        try:
            response = self.client().get(path)
            status, seconds, body = response.status, response.seconds, response.body
            if status == 503 and "Retry-After" not in response.headers:
                status = "503 without Retry-After"
        except (OSError, http.client.HTTPException) as error:
            status, seconds, body = type(error).__name__, time.monotonic() - start, b""
            self.server.has_ended(1)
        with self.lock:
            self.statuses[status] += 1
            self.slowest = max(self.slowest, (seconds, path))
            if seconds > LONGEST_ANSWER:
                self.slow.append((seconds, path))
                self.keep(path)
            if status not in EXPECTED and self.server.is_alive():
                self.unexpected.append(f"{path}: {status} {body[:80]!r}")
                self.keep(path)
        return status, body

    def look(self, path):
        status, body = self.ask(path)
        if status == 200 and body != self.reference or status in (404, 415, 422):
            self.strange.append(f"{path}: {status}, {len(body)} bytes")

    def keep(self, path):
        """Keeps the file of a URL, if --keep is given."""
        for file in self.folder.glob("b*/*") if self.context.keep else ():
            if f"/{file.parent.name}/" in path and f"/{file.name}" in path:
                self.context.keep_file(f"{file.parent.name}-{file.name}", file.read_bytes())

    def revive(self, health):
        """Records a crash, and restarts the server unless it crashed too often."""
        self.deaths.append(f"after {self.done} mutants: {self.server.process.returncode} "
                           f"{self.server.last_error()}")
        if len(self.deaths) >= 10:
            return False
        for folder in self.folder.glob("b*"):
            for file in folder.iterdir() if self.context.keep else ():
                self.context.keep_file(f"death{len(self.deaths)}-{folder.name}-{file.name}", file.read_bytes())
            shutil.rmtree(folder)
        try:
            self.server.start()
        except ServerEnded as error:
            self.deaths.append(str(error))
            return False
        health.follow(self.server.port)
        return True

    def judge(self):
        def verdict(what, passed, said, **figures):
            self.report.verdict("mutants", what, passed, said, **figures)

        verdict("the host does not crash", not self.deaths,
                f"{len(self.deaths)} in {self.done} mutants {'; '.join(self.deaths[:2])}".strip(),
                deaths=len(self.deaths), mutants=self.done)
        verdict("no response takes more than 5 s", not self.slow,
                f"slowest {self.slowest[0]:.2f} s {self.slowest[1]}; {len(self.slow)} over",
                slowest=self.slowest[0], over=len(self.slow))
        verdict("only images and error responses", not self.unexpected,
                f"{dict(self.statuses.most_common())} {'; '.join(self.unexpected[:3])}".strip())
        verdict("the reference image is unchanged", not self.strange, "; ".join(self.strange[:3]))
        largest = max(held for _, held in self.memory)
        growth = largest - self.warm_resident
        verdict("the host grows by at most 64 MiB", growth <= GROWTH,
                f"{mebibytes(growth)}: {mebibytes(self.start_resident)} at the start, "
                f"{mebibytes(self.warm_resident)} after valid files, {mebibytes(largest)} at most",
                growth=growth, at_start=self.start_resident, warm=self.warm_resident, largest=largest)
        late = self.late_growth()
        said = f"{mebibytes(late)} from the sixth to the last tenth"
        if self.done >= FLAT_COUNT:
            verdict("memory is flat in the second half", late <= FLAT, said, growth=late)
        else:
            self.report.note("mutants", f"{said}; judged for {FLAT_COUNT} or more mutants")
        ordered = sorted(self.health) or [float("inf")]
        usual, worst = ordered[int(len(ordered) * 0.99)], ordered[-1]
        verdict("health checks take at most 100 ms (99 %), at worst 1 s",
                usual <= (1 if self.context.brief else 0.1) and worst <= 1,
                f"{milliseconds(usual)}, {milliseconds(worst)} of {len(ordered)}", usual=usual, worst=worst)
        self.report.note("mutants", f"{self.done / self.seconds:.0f} mutants a second")

    def late_growth(self):
        def middle(low, high):
            held = [held for done, held in self.memory if low <= done / max(self.done, 1) <= high]
            return statistics.median(held) if held else self.warm_resident

        return int(middle(0.9, 1) - middle(0.5, 0.6))


def requests(rng, folder, name):
    """Yields URLs of a file over all routes, without end."""
    name = quoted(name)
    while True:
        side = rng.choice((16, 64, 100, 300))
        yield rng.choices([
            f"/{folder}/{side}x{side}/{name}",
            f"/{folder}/{side}x{side},fill,{rng.choice(('webp', 'png', 'gif'))}/{name}",
            f"/{folder}/{side}x{side},still,q{rng.randrange(30, 90)}/{name}",
            f"/info/{folder}/{name}",
            f"/placeholder/{folder}/{name}?format=json",
            f"/tiles/{folder}/{name}.dzi",
            f"/tiles/{folder}/{name}_files/{rng.randrange(9)}/0_0.jpg",
            f"/iiif/3/{folder}%2F{name}/info.json",
            f"/iiif/3/{folder}%2F{name}/square/^{side},/{rng.choice((0, 90, 180))}/gray.jpg",
            f"/{folder}/{name}",
        ], (25, 10, 10, 15, 12, 6, 8, 6, 6, 2))[0]


def sources(rng, more):
    """Returns files of each format, from the samples and another folder."""
    found = {}
    for name, suffixes in SUFFIXES.items():
        own = sorted(file for file in (CORPUS / name).rglob("*") if file.suffix[1:].lower() in suffixes)
        others = sorted(file for suffix in suffixes for file in more.rglob(f"*.{suffix}")) if more else []
        others = [file for file in others if file.is_file()]
        files = own + rng.sample(others, min(100, len(others)))
        data = [file.read_bytes() for file in files if 0 < file.stat().st_size <= LARGEST_FILE]
        if data:
            found[name] = data
    return found
