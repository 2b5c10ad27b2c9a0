# SPDX-License-Identifier: Apache-2.0
"""Kills workers and hosts while clients load photographs and small images.

Each image must have the bytes that an idle server returns. After a kill no worker may remain. At the
end the store must be intact, without temporary files.
"""

import collections
import contextlib
import http.client
import os
import random
import shutil
import signal
import sqlite3
import threading
import time

from calotype_server import CORPUS, Server
from photographs import PURGE_TOKEN, copy_photographs, fetch_singly, other_routes, renditions

KILLS, BRIEF_KILLS = 200, 12
CLIENTS = 8
# "lost": the connection to a killed server broke.
EXPECTED = {200, 503, "lost"}


def run(context):
    rng = random.Random(context.seed)
    folder = context.place / "photos"
    names = copy_photographs(context, folder, 3 if context.brief else 8)
    paths = renditions(names) + other_routes(names)
    small = sorted(CORPUS.glob("png/valid/*.png")) + sorted(CORPUS.glob("jpeg/valid/*.jpg"))
    for number, sample in enumerate(small[: 10 if context.brief else 60]):
        name = f"small{number}{sample.suffix}"
        shutil.copy(sample, folder / name)
        paths += renditions([name], ["16x16", "64x64", "150x150,png"])
        names.append(name)
    with Server(context.program, folder, context.place / "reference", environment=PURGE_TOKEN) as server:
        references = fetch_singly(server, paths, names)
    Run(context, rng, folder, paths, references).run()


class Run:
    def __init__(self, context, rng, folder, paths, references):
        self.context, self.rng, self.folder = context, rng, folder
        self.paths, self.references = paths, references
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.statuses, self.wrong, self.unexpected, self.left = collections.Counter(), [], [], []

    def run(self):
        cache = self.context.place / "cache"
        self.server = Server(self.context.program, self.folder, cache, "--cache-size", "20MB")
        clients = [threading.Thread(target=self.ask, args=(n,)) for n in range(CLIENTS)]
        for client in clients:
            client.start()
        kills = self.context.count(KILLS, BRIEF_KILLS)
        try:
            hosts, deaths = self.kill(kills)
        finally:
            self.ended.set()
            for client in clients:
                client.join()
        with self.server.client() as client:
            for path in self.paths:
                self.compare(path, client.get(path))
        status = self.server.stop()
        verdict = self.context.report.verdict
        verdict("kills", "every response equals the reference", not self.wrong,
                f"{self.statuses[200] - len(self.wrong)} of {self.statuses[200]} while "
                f"{kills - hosts} workers and {hosts} hosts were killed; {self.wrong[:3]}",
                wrong=len(self.wrong), answers=self.statuses[200])
        verdict("kills", "only images, lost connections and 503", not self.unexpected,
                f"{dict(self.statuses)} {self.unexpected[:3]}")
        verdict("kills", "the host survives its workers", not deaths, "; ".join(deaths[:3]))
        verdict("kills", "no worker remains after its host was killed", not self.left, f"{self.left}")
        verdict("kills", "the server exits with 0 after SIGTERM", status == 0, f"{status}")
        damaged = damages(cache)
        verdict("kills", "the store is intact, without temporary files", not damaged, "; ".join(damaged))

    def kill(self, count):
        hosts, deaths = 0, []
        for _ in range(count):
            time.sleep(self.rng.uniform(0.02, 0.4))
            workers = self.server.workers()
            if not self.server.is_alive():
                deaths.append(self.server.last_error() or str(self.server.process.returncode))
                self.server.start()
            elif workers and self.rng.random() < 0.6:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.rng.choice(workers), signal.SIGKILL)
            else:
                self.left += self.server.kill()
                hosts += 1
                self.server.start()
        return hosts, deaths

    def ask(self, number):
        rng, client = random.Random(self.context.seed * 1000 + number), None
        while not self.ended.is_set():
            path, port = rng.choice(self.paths), self.server.port
            if client is None or client.connection.port != port:
                client = self.server.client()
            try:
                self.compare(path, client.get(path))
            except (OSError, http.client.HTTPException):
                client = None
                with self.lock:
                    self.statuses["lost"] += 1
                time.sleep(0.01)

    def compare(self, path, response):
        reference = self.references[path]
        with self.lock:
            self.statuses[response.status] += 1
            if response.status not in EXPECTED:
                self.unexpected.append(f"{path}: {response.status} {response.body[:80]!r}")
            elif path.startswith(("/info/", "/placeholder/")) and response.tag != reference.tag:
                # The placeholder is computed from the first decoded image; the tag depends on its bytes.
                pass
            elif response.status == 200 and (response.body, response.tag) != (reference.body, reference.tag):
                self.wrong.append(path)


def damages(cache):
    found = [f"temporary: {path.name}" for path in cache.rglob("*")
             if "XXXXXX" in path.name or "tmp" in path.name]
    stores = [path for path in cache.rglob("*") if path.suffix in (".sqlite", ".db")]
    if not stores:
        found.append("no store was created")
    for store in stores:
        with contextlib.closing(sqlite3.connect(store)) as database:
            response = database.execute("PRAGMA integrity_check").fetchall()
        if response != [("ok",)]:
            found.append(f"{store.name}: {response[:2]}")
    return found
