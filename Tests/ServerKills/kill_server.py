# SPDX-License-Identifier: Apache-2.0
"""Kills a server or one of its workers, again and again, while clients load pictures from it.

Arguments: the command, a seed and the number of kills. After each kill of the server no worker may be
left; in the end the store must be whole, nothing temporary left, and every picture come as it should.
"""

import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

COMMAND, SEED, KILLS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Corpus"
CLIENTS = 8


class Server:
    """A running server; started again after it was killed."""

    def __init__(self, folder, cache):
        self.arguments = [COMMAND, "serve", str(folder), "--port", "0", "--cache-directory", str(cache)]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert " at http" in line, f"the server did not start: {line}"
        self.address = line.split(" at ")[1].strip().rstrip("/")

    def workers(self):
        return children(self.process.pid)

    def kill(self):
        workers = self.workers()
        self.process.kill()
        self.process.wait()
        deadline = time.monotonic() + 10
        while alive := [worker for worker in workers if is_alive(worker)]:
            assert time.monotonic() < deadline, f"workers were left behind: {alive}"
            time.sleep(0.01)


def children(parent):
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(entry))
    return found


def is_alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def fetch(address, path, width):
    with urllib.request.urlopen(f"{address}/{width}x{width}/{path}", timeout=30) as answer:
        return answer.read()


def client(server, paths, seed, ended, counts, lock):
    rng = random.Random(seed)
    while not ended.is_set():
        name, status = rng.choice(paths), "lost"
        try:
            body = fetch(server.address, name, rng.randrange(8, 200))
            status = "shown" if len(body) > 50 else "empty"
        except urllib.error.HTTPError as error:
            status = "503" if error.code == 503 else f"{error.code} {error.read()!r}"
        except OSError:
            time.sleep(0.005)
        except Exception as error:  # an answer that was cut off
            status = type(error).__name__
        with lock:
            counts[status] = counts.get(status, 0) + 1


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as place:
        folder, cache = pathlib.Path(place, "photos"), pathlib.Path(place, "cache")
        folder.mkdir()
        samples = sorted(SAMPLES.glob("png/valid/*.png")) + sorted(SAMPLES.glob("jpeg/valid/*.jpg"))
        for number, sample in enumerate(samples[:60]):
            shutil.copy(sample, folder / f"{number}{sample.suffix}")
        paths = sorted(path.name for path in folder.iterdir())
        server, ended, counts, lock = Server(folder, cache), threading.Event(), {}, threading.Lock()
        threads = [
            threading.Thread(target=client, args=(server, paths, SEED + n, ended, counts, lock))
            for n in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        try:
            hosts = 0
            for _ in range(KILLS):
                time.sleep(rng.uniform(0.02, 0.4))
                workers = server.workers()
                if workers and rng.random() < 0.6:
                    try:
                        os.kill(rng.choice(workers), signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                else:
                    server.kill()
                    hosts += 1
                    server.start()
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        for path in paths:
            assert len(fetch(server.address, path, 64)) > 50
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=30) == 0, "the server did not end as it should"
        left = [str(path) for path in cache.rglob("*") if "XXXXXX" in path.name or "tmp" in path.name]
        assert not left, f"temporary files: {left}"
        stores = [path for path in cache.rglob("*") if path.suffix in (".sqlite", ".db")]
        assert stores, f"there is no store among {list(cache.rglob('*'))}"
        for store in stores:
            answer = sqlite3.connect(store).execute("PRAGMA integrity_check").fetchall()
            assert answer == [("ok",)], f"{store}: {answer}"
        print(f"{KILLS} kills, {hosts} of them of the server: {counts}")
        bad = [status for status in counts if status not in ("shown", "lost", "IncompleteRead", "503")]
        assert not bad, f"answers that should not be: {bad}"
        if not counts.get("shown"):
            sys.exit("nothing was shown")


main()
