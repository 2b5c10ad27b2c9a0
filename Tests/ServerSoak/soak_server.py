# SPDX-License-Identifier: Apache-2.0
"""Mixes hostile requests with valid ones.

Arguments: the command, a seed, the seconds, and folders of more files. No response may be a server error,
a valid image must have the same bytes each time, and in runs of a minute or more memory must not grow
from the second third to the last.
"""

import collections
import http.client
import os
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "CalotypeServer"))

from calotype_server import CORPUS as SAMPLES
from calotype_server import Client as HTTPClient
from calotype_server import Server, raw_connection

COMMAND, SEED, SECONDS = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
FOLDERS = [SAMPLES] + [pathlib.Path(name) for name in sys.argv[4:]]
CLIENTS = 8

# The expected statuses; 503 means that the server is overloaded or the deadline has passed.
EXPECTED = {200, 204, 206, 303, 304, 400, 401, 403, 404, 405, 410, 414, 415, 416, 421, 422, 431, 503}

PATHS = [
    "/../etc/passwd", "/..%2fetc/passwd", "/%252e%252e%252fetc/passwd", "/%c0%ae%c0%ae/etc/passwd",
    "/..%5cetc", "/%00", "//etc/passwd", "/out/secret", "/pipe.png", "/64x64/pipe.png",
    "/0x0/good.png", "/-1x5/good.png", "/99999999999999999999x1/good.png", "/2147483648x1/good.png",
    "/1.5x2/good.png", "/NaNx1/good.png", "/64x64@1e308x/good.png", "/64x64," + "fill," * 2000 + "/good.png",
    "/iiif/3/good.png/full/pct:100000/0/default.jpg", "/iiif/3/good.png/full/^max/0/default.jpg",
    "/iiif/3/good.png/99999,0,10,10/max/0/default.jpg", "/iiif/3/..%2Fsecret/info.json",
    "/tiles/good.png_files/-1/0_0.jpg", "/tiles/good.png_files/9/99_99.jpg",
    "/_/rs:fill:9999999:1/plain/good.png", "/_/w:10/plain/http://127.0.0.1:1/x.png",
    "/_/w:10/plain/http://169.254.169.254/latest", "/_/w:10/plain/file:///etc/passwd",
    "/sprite/64x64/?limit=1000000", "/sprite/8192x8192/", "/" + "a" * 9000,
    "/-/listing/?offset=-1", "/good.png?v=%0d%0aSet-Cookie:%20x", "/readyz", "/metrics",
]
HEADERS = [
    {}, {"Range": "bytes=" + ",".join(f"{n}-{n}" for n in range(1000))}, {"Range": "bytes=99999999-"},
    {"Accept": "image/webp;q=banana," * 300}, {"Sec-CH-DPR": "1e9"}, {"Sec-CH-Width": "-1"},
    {"If-None-Match": '"x"' * 500}, {"Host": "evil.example"}, {"X-Forwarded-Host": "evil.example"},
    {"Accept-Encoding": "x" * 4000}, {"Authorization": "Bearer x"},
]


def make_files(folder, rng) -> list[str]:
    """Writes valid, truncated and changed files, and files that are not images."""
    files = sorted(file for place in FOLDERS for file in place.rglob("*")
                   if file.is_file() and 0 < file.stat().st_size < 1 << 20)
    names = []

    def add(name, data):
        (folder / name).write_bytes(data)
        names.append(name)

    for number, file in enumerate(rng.sample(files, min(300, len(files)))):
        data, name = file.read_bytes(), f"{number}-{file.name}".replace("%", "_")
        add(name, data)
        add("cut-" + name, data[: len(data) * rng.randrange(1, 16) // 16])
        changed = bytearray(data)
        for _ in range(64):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        add("changed-" + name, bytes(changed))
    for name, data in [("page.jpg", b"<html><script>1</script>"), ("one.png", b"x"), ("none.gif", b""),
                       ("push.png", b"push graphic-context\n"), ("paper.jpg", b"%PDF-1.7\n")]:
        add(name, data)
    return names


class Client(threading.Thread):
    def __init__(self, number, port, names, good, ended, counts, lock):
        super().__init__()
        self.rng = random.Random(SEED + number)
        self.port, self.names, self.good, self.ended = port, names, good, ended
        self.counts, self.lock, self.failures = counts, lock, []

    def note(self, what):
        with self.lock:
            self.counts[what] += 1

    def get(self, path, headers={}, method="GET"):
        with HTTPClient(self.port) as client:
            response = client.get(path, headers, method)
            return response.status, response.body

    def rude(self):
        """Sends an incomplete request, reads one byte of a response, or disconnects at once."""
        with raw_connection(self.port) as raw:
            kind = self.rng.randrange(3)
            name = urllib.parse.quote(self.rng.choice(self.names))
            if kind == 0:
                raw.sendall(b"GET /good.png HTTP/1.1\r\nHost: localhost\r\nX-")
            else:
                size = self.rng.randrange(16, 2000)
                raw.sendall(f"GET /{size}x{size}/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                if kind == 1:
                    raw.recv(1)

    def run(self):
        while not self.ended.is_set():
            try:
                self.step()
            except (OSError, http.client.HTTPException) as error:
                # The server closed the connection after a malformed request.
                self.note(type(error).__name__)
                self.failures.append(repr(error))

    def step(self):
        dice = self.rng.random()
        if dice < 0.3:
            status, body = self.get("/64x64/good.png")
            if status != 503 and (status, body) != self.good:
                self.failures.append(f"the bytes of the valid image differ: {status}")
            return self.note(status)
        if dice < 0.38:
            self.rude()
            return self.note("rude")
        headers = self.rng.choice(HEADERS) if self.rng.random() < 0.2 else {}
        if dice < 0.55:
            path = self.rng.choice(PATHS)
        else:
            name = urllib.parse.quote(self.rng.choice(self.names))
            size = self.rng.choice((16, 100, 333, 1024))
            path = self.rng.choice((
                f"/{name}", f"/{size}x{size}/{name}", f"/{size}x{size},fill,webp/{name}", f"/info/{name}",
                f"/placeholder/{name}?format=json", f"/tiles/{name}.dzi", f"/tiles/{name}_files/8/0_0.jpg",
                f"/iiif/3/{name}/full/{size},/90/gray.jpg", f"/-/listing/?limit={size}",
                f"/_/rs:fill:{size}:{size}/plain/{name}@png"))
        method = self.rng.choice(("HEAD", "DELETE", "PUT")) if self.rng.random() < 0.05 else "GET"
        status, body = self.get(path, headers, method)
        self.note(status)
        if status not in EXPECTED:
            self.failures.append(f"{method} {path[:200]} {str(headers)[:60]}: {status} {body[:200]!r}")


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place, "photos")
        folder.mkdir()
        names = make_files(folder, rng)
        shutil.copy(sorted(SAMPLES.glob("png/valid/*.png"))[0], folder / "good.png")
        os.symlink("/etc", folder / "out")
        os.mkfifo(folder / "pipe.png")
        # So small that all caches are full in the first third; the page caches of SQLite grow with its store.
        server = Server(
            COMMAND, folder, f"{place}/cache", "--cache-size", "400KB", "--memory", "8MiB", "--imgproxy",
            "--metrics", "--client-hints", "--source", "photos.example", "--allow-http",
            "--request-timeout", "20")
        port = server.port
        ended, counts, lock = threading.Event(), collections.Counter(), threading.Lock()
        probe = Client(-1, port, names, None, ended, counts, lock)
        good = probe.get("/64x64/good.png")
        assert good[0] == 200, good
        clients = [Client(n, port, names, good, ended, counts, lock) for n in range(CLIENTS)]
        for client in clients:
            client.start()
        memory, health, start = [], [], time.monotonic()
        try:
            while time.monotonic() - start < SECONDS and server.is_alive():
                before = time.monotonic()
                assert probe.get("/healthz")[0] == 200
                health.append((time.monotonic() - before) * 1000)
                memory.append((time.monotonic() - start, server.unshared_with_workers(), server.resident_with_workers()))
                time.sleep(0.25)
        finally:
            ended.set()
            for client in clients:
                client.join()
        assert server.is_alive(), f"the server ended: {server.process.returncode} {server.last_error()}"
        assert probe.get("/64x64/good.png") == good
        assert server.stop() == 0
        failures = [failure for client in clients for failure in client.failures]
        # The mean: the memory of the host alternates between two values, and a median is one of them.
        early, late = (
            statistics.mean(held for at, held, _ in memory if first <= at / SECONDS * 3 < first + 1) / 2**20
            for first in (1, 2))
        health.sort()
        print(f"{sum(counts.values())} requests in {SECONDS:.0f} s: {dict(counts)}")
        print(f"unshared memory {early:.1f} MiB in the second third, {late:.1f} MiB in the last; "
              f"resident at most {max(held for _, _, held in memory) >> 20} MiB")
        print(f"health check: {health[len(health) * 99 // 100]:.0f} ms (99 %), {health[-1]:.0f} ms at worst")
        for failure in failures[:20]:
            print(failure)
        assert not failures, f"{len(failures)} failures"
        assert SECONDS < 60 or late < early + 2, "memory grew"


main()
