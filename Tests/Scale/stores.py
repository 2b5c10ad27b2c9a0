#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures responses while the bucket of renditions, or Redis, is slow, refuses, lies or has stopped.

usage: stores.py CALOTYPE [--count N]; needs Pillow and redis-server

Each state of the stores gets new originals, so that each response needs the stores. Of each state it checks the bytes
of all responses against a server without stores, the 99th percentile against that of the undisturbed state, and the
metric that names the trouble.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import http.server
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "CalotypeServer"))

from calotype_server import CheckedServer  # noqa: E402
from scale import check, linked, photograph, report_missed  # noqa: E402

CLIENTS = 4
SIZE = "384x384"
MOST_MILLISECONDS = 200


class Bucket(http.server.ThreadingHTTPServer):
    """A store of objects that responds as its mode says: right, slow, silent, refuse, lie."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self):
        super().__init__(("127.0.0.1", 0), BucketHandler)
        self.objects, self.mode, self.lies = {}, "right", 0
        self.closing = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self):
        return "http://127.0.0.1:%d" % self.server_address[1]

    def handle_error(self, request, client_address):
        """A client that gave up is no error."""


class BucketHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise the system delays the body after the head by up to 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self):
        found = self.server.objects.get(self.path)
        if self.server.mode == "lie" and found is None and self.server.objects:
            # Another object, with its own metadata.
            found = next(iter(self.server.objects.values()))
            self.server.lies += 1
        if found is None:
            self.respond(404)
        else:
            self.respond(200, *found)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.mode in ("right", "lie"):
            kept = {name: value for name, value in self.headers.items()
                    if name.lower().startswith("x-amz-meta-") or name.lower() == "content-type"}
            self.server.objects.setdefault(self.path, (body, kept))
        self.respond(200)

    def respond(self, status, body=b"", headers={}):
        mode = self.server.mode
        if mode == "slow":
            self.server.closing.wait(1)
        elif mode == "silent":
            self.server.closing.wait(600)
        elif mode == "refuse":
            status, body, headers = 503, b"", {}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("ETag", f'"{hashlib.md5(body).hexdigest()}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Prints nothing."""


class Redis:
    """A redis-server behind a relay that can delay its replies."""

    def __init__(self, folder):
        self.folder, self.delay = folder, 0
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.inner = probe.getsockname()[1]
        self.start()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.inner), "--bind", "127.0.0.1", "--save", "", "--dir", self.folder],
            stdout=subprocess.DEVNULL)
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.inner)):
                return
            time.sleep(0.1)
        raise SystemExit("redis-server does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.inner))
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.relay, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.relay, args=(server, client, True), daemon=True).start()

    def relay(self, source, target, is_reply):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_reply and self.delay:
                    time.sleep(self.delay)
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def metric(server, name):
    text = server.get("/metrics").body.decode()
    return sum(int(float(value)) for value in re.findall(rf"^calotype_{name}(?:{{[^}}]*}})? ([0-9.e+]+)", text, re.M))


class Measurement:
    """One server with both stores, and the originals that it has not been asked for."""

    def __init__(self, server, expected, count):
        self.server, self.expected, self.count = server, expected, count
        self.next, self.usual = 0, None

    def recover(self):
        """Waits until the server uses the bucket again, which takes ten seconds after failures."""
        before = metric(self.server, "result_bucket_misses_total")
        while metric(self.server, "result_bucket_misses_total") == before:
            time.sleep(0.5)
            self.server.get(f"/{SIZE}/{self.next:06}.jpg")
            self.next += 1

    def run(self, what, failures):
        """Requests new originals; `failures` are the metrics one of which must rise, none in the undisturbed state."""
        paths = [f"/{SIZE}/{self.next + number:06}.jpg" for number in range(self.count)]
        self.next += self.count
        before = [metric(self.server, name) for name in failures]

        def client(mine):
            with self.server.client() as connection:
                return [(path, connection.get(path)) for path in mine]

        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            parts = pool.map(client, [paths[number::CLIENTS] for number in range(CLIENTS)])
            responses = [pair for part in parts for pair in part]
        wrong = [path for path, response in responses if response.status != 200 or response.body != self.expected]
        assert not wrong, f"{what}: {len(wrong)} of {len(paths)} responses are not as without stores: {wrong[:3]}"
        times = sorted(1000 * response.seconds for _, response in responses)
        percentile = statistics.quantiles(times, n=100)[98]
        risen = [metric(self.server, name) - value for name, value in zip(failures, before)]
        named = "".join(f", {name} +{rise}" for name, rise in zip(failures, risen))
        print(f"{what}: {len(times)} responses as without stores; median {statistics.median(times):.0f} ms, "
              f"99th percentile {percentile:.0f} ms, worst {times[-1]:.0f} ms{named}", flush=True)
        assert not failures or any(risen), f"{what}: no metric names it"
        if self.usual is None:
            self.usual = percentile
        else:
            check(f"{what}: 99th percentile above that of the undisturbed state", percentile - self.usual,
                  MOST_MILLISECONDS, " ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    # Few, since only the first ones meet a store that fails; then the server pauses.
    parser.add_argument("--count", type=int, default=200, help="responses in each state")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        work.chmod(0o755)
        photograph(work / "original.jpg", (1500, 1000))
        # Those beyond are for `recover`.
        linked(work / "photos", work / "original.jpg", 10 * arguments.count + 200)
        with CheckedServer(arguments.program, work / "photos", work / "alone", "--no-library") as server:
            expected = server.get(f"/{SIZE}/000000.jpg").body
        bucket = Bucket()
        redis = Redis(str(work))
        stack.callback(redis.kill)
        server = stack.enter_context(CheckedServer(
            arguments.program, work / "photos", work / "cache", "--no-library", "--metrics",
            "--result-bucket", "results/photos", "--s3-endpoint", bucket.endpoint,
            "--redis", f"127.0.0.1:{redis.port}", "--rate-limit", "100000",
            environment={"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}))
        # The server ends without waiting for responses of the bucket.
        stack.callback(bucket.closing.set)
        measure(Measurement(server, expected, arguments.count), bucket, redis)
    report_missed()


def measure(measurement, bucket, redis):
    failures = ["result_bucket_failures_total"]
    measurement.run("both undisturbed", [])
    for mode, what in [("slow", "the bucket responds after 1 s"), ("silent", "the bucket does not respond"),
                       ("refuse", "the bucket responds with 503"), ("lie", "the bucket responds with other objects")]:
        bucket.mode = mode
        measurement.run(what, failures)
        bucket.mode = "right"
        measurement.recover()
    assert bucket.lies, "the server has read none of the wrong objects"
    failures = ["redis_failures_total"]
    redis.delay = 0.1
    measurement.run("Redis responds after 100 ms", failures)
    redis.delay = 0
    redis.process.send_signal(signal.SIGSTOP)
    measurement.run("Redis has stopped", failures)
    redis.process.send_signal(signal.SIGCONT)
    redis.kill()
    measurement.run("Redis has ended", failures)
    redis.start()
    measurement.run("Redis has been restarted", [])


if __name__ == "__main__":
    main()
