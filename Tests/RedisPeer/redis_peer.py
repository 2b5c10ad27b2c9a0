# SPDX-License-Identifier: Apache-2.0
"""Three servers share a real Redis server and an S3-compatible store (moto): redis_peer.py CALOTYPE.

A rendition that is requested of all of them at once is decoded once, a purge and the rate limit concern all of them,
and all responses are right while Redis is stopped, killed and restarted. The script of the rate limit is compared
with a token bucket in Python. Needs redis-server, moto, boto3 and Pillow. Exits with 0 if all checks pass.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "CalotypeServer"), str(TESTS / "S3Peer")]

import s3_peer
from calotype_server import CheckedServer
from PIL import Image

PASSWORD = "a-password"
SCRIPT_FILE = TESTS.parent / "Sources/ImageServer/Redis/SharedRateLimit.swift"
failures = []


def expect(what, value, expected=True):
    print(f"{'ok' if value == expected else 'FAILED'}: {what}: {value}", flush=True)
    if value != expected:
        failures.append(what)


def eventually(condition, seconds=30):
    """Waits until a condition holds; returns the seconds, or nothing if it never does."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            return None
        time.sleep(0.01)
    return time.monotonic() - start


class Redis:
    """A redis-server with a password, and one connection to it."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir",
             self.folder, "--requirepass", PASSWORD],
            stdout=subprocess.DEVNULL)
        if eventually(self.connects) is None:
            self.kill()
            raise SystemExit("redis-server does not start")

    def connects(self):
        with contextlib.suppress(OSError):
            self.connection = socket.create_connection(("127.0.0.1", self.port))
            self.file = self.connection.makefile("rb")
            return self.command("AUTH", PASSWORD) == "OK"

    def command(self, *arguments):
        parts = [str(argument).encode() for argument in arguments]
        self.connection.sendall(
            b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        line = self.file.readline().decode().strip()
        if line[:1] == ":":
            return int(line[1:])
        if line[:1] == "$":
            return None if line == "$-1" else self.file.read(int(line[1:]) + 2)[:-2].decode()
        if line[:1] != "+":
            raise OSError(f"unexpected reply: {line}")
        return line[1:]

    def kill(self):
        self.process.kill()
        self.process.wait()


class SharingServer(CheckedServer):
    """A server with a cache of its own that shares Redis and the bucket."""

    def __init__(self, program, folder, endpoint, key, redis, *options, user="",
                 password=PASSWORD):
        self.empty = tempfile.TemporaryDirectory()
        if redis:
            options = ("--redis", f"redis://{user}@127.0.0.1:{redis.port}/3", *options)
        super().__init__(
            program, folder, f"{self.empty.name}/cache", "--metrics", "--no-library", "--result-bucket",
            "results/renditions", "--s3-endpoint", endpoint, "--log-level", "error", *options,
            environment={
                "AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
                "CALOTYPE_REDIS_PASSWORD": password, "CALOTYPE_PURGE_TOKENS": "secret"})

    def __exit__(self, *_):
        super().__exit__()
        self.empty.cleanup()

    def metric(self, name):
        lines = self.get("/metrics").body.decode().splitlines()
        return sum(int(float(line.split()[-1])) for line in lines if line.startswith(f"calotype_{name}"))

    def purge(self, path):
        with self.client() as client:
            return client.get(path, {"Authorization": "Bearer secret"}, method="DELETE")


def total(servers, name):
    return sum(server.metric(name) for server in servers)


def at_once(servers, path):
    """Requests a path of all servers at the same time."""
    with concurrent.futures.ThreadPoolExecutor(len(servers)) as pool:
        return list(pool.map(lambda server: server.get(path), servers))


class Images:
    """Different photographs, each used once."""

    def __init__(self, folder):
        self.folder, self.count = pathlib.Path(folder), 0

    def next(self):
        self.count += 1
        small = Image.effect_noise((75, 50), 90 + self.count)
        small.resize((3000, 2000)).convert("RGB").save(self.folder / f"{self.count}.jpg", quality=90)
        return f"{self.count}.jpg"


def check_decodes(servers, images, is_shared):
    """One decode for three requests at once, unless a time limit was exceeded."""
    undisturbed, counts = 0, []
    # Each exceeded limit on a busy machine allows one more decode.
    limits = ["result_bucket_failures_total", "redis_failures_total", "rendition_locks_timeouts_total"]
    for _ in range(12):
        name = images.next()
        before = total(servers, "image_decode_seconds_count"), sum(total(servers, name) for name in limits)
        responses = at_once(servers, f"/400x400/{name}")
        if len({(response.status, response.body) for response in responses}) != 1:
            expect(f"equal responses for {name}", [response.status for response in responses])
        decodes = total(servers, "image_decode_seconds_count") - before[0]
        counts.append(decodes)
        if sum(total(servers, name) for name in limits) == before[1]:
            undisturbed += 1
            if is_shared and decodes != 1:
                expect(f"one decode of {name}", decodes, 1)
        if undisturbed == 5:
            break
    return undisturbed, counts


def check_writes(servers):
    """Every rendition that was made has been written to the bucket, or dropped."""
    def finished():
        writes = total(servers, "result_bucket_writes_total") + total(servers, "result_bucket_drops_total")
        return writes >= total(servers, "image_decode_seconds_count")

    expect("all writes end", eventually(finished) is not None)


def check_purge(servers, images, store):
    name = images.next()
    path = f"/400x400/{name}"
    first = servers[0].get(path).body
    check_writes(servers)
    for server in servers:
        expect("the same bytes before the purge", server.get(path).body == first)
    # A server whose lookup takes too long makes the rendition, too; a write must not follow the purge.
    check_writes(servers)

    def objects():
        return {entry["Key"] for entry in store.list_objects_v2(Bucket="results").get("Contents", [])}

    others = servers[1:]
    received = [server.metric("purges_received_total") for server in others]
    before = objects()
    response = servers[0].purge(f"/{name}")
    expect("purged", (response.status, response.headers.get("X-Purge-Warning")), (204, None))
    seconds = eventually(
        lambda: [server.metric("purges_received_total") for server in others] == [n + 1 for n in received])
    expect("the purge reaches the others within a second", seconds is not None and seconds < 1)
    print(f"   after {seconds} s")
    expect("one object less in the bucket", len(before - objects()), 1)
    decodes = servers[2].metric("image_decode_seconds_count")
    expect("the same bytes after the purge", servers[2].get(path).body == first)
    expect("which are made again", servers[2].metric("image_decode_seconds_count") - decodes, 1)


def check_rate(servers):
    """36 requests at once, ten tokens, one more a second."""
    start = time.monotonic()
    statuses = [servers[number % 3].get(f"/20x20/1.jpg?n={number}").status for number in range(36)]
    late = total(servers, "redis_failures_total")
    accepted, limit = statuses.count(200), 10 + int(time.monotonic() - start) + 1 + late
    print(f"   {accepted} of 36 accepted, {late} answers late")
    expect("only 200 and 429", set(statuses) <= {200, 429})
    expect("the tokens are those of all servers", 10 <= accepted <= limit)
    expect("and some requests are rejected", late > 20 or 429 in statuses)


def check_script(redis):
    """Compares the script with a token bucket over 20,000 virtual times."""
    script = re.search(r'script = """\n(.*?)"""', SCRIPT_FILE.read_text(), re.S)[1]
    expect("PX is set", "'PX', math.ceil((later - now) / 1000)" in script)
    script = script.replace("redis.call('TIME')", "{ARGV[5], ARGV[6]}")
    script = re.sub(r",\s*'PX', math.ceil\(\(later - now\) / 1000\)", "", script)
    generator, wrong = random.Random(1), 0
    for interval, burst in [(1_000_000, 10), (50_000, 200), (1_000_000_000, 1)]:
        redis.command("DEL", "bucket")
        now, tokens = 1_700_000_000_000_000, float(burst)
        for _ in range(7_000):
            step = int(generator.expovariate(1 / interval))
            now, tokens = now + step, min(burst, tokens + step / interval)
            is_charge = generator.random() < 0.1
            cost = generator.choice([0.01, 0.5, 3]) if is_charge else 1
            seconds, micros = divmod(now, 1_000_000)
            wait = redis.command(
                "EVAL", script, 1, "bucket", float(interval), burst, cost, int(is_charge), seconds, micros)
            if is_charge:
                tokens = min(tokens, max(tokens - cost, -burst))
                wrong += wait != 0
            elif tokens >= 1 + 1e-6:
                tokens -= 1
                wrong += wait != 0
            elif tokens < 1 - 1e-6:
                wrong += abs(wait - (1 - tokens) * interval) > 2 + interval * 1e-6
            elif wait == 0:
                tokens -= 1
    expect("differences from a token bucket in Python", wrong, 0)


def check_failures(servers, images, redis, program, folder, endpoint, key):
    def all_right(what):
        slowest = 0
        for _ in range(3):
            responses = at_once(servers, f"/300x300/{images.next()}")
            slowest = max(slowest, *(response.seconds for response in responses))
            if len({(response.status, response.body) for response in responses}) != 1:
                expect(what, [response.status for response in responses])
        expect(f"{what}: all responses are equal", {response.status for response in responses}, {200})
        print(f"   the slowest after {slowest:.3f} s")

    redis.process.send_signal(signal.SIGSTOP)
    late = total(servers, "redis_failures_total")
    all_right("Redis stopped")
    expect("metrics name it", total(servers, "redis_failures_total") > late)
    name = f"/{images.next()}"
    expect("a purge reports it", servers[0].purge(name).headers.get("X-Purge-Warning"),
           "other servers were not reached; repeat the request")
    redis.process.send_signal(signal.SIGCONT)
    expect("connections after it continues", eventually(
        lambda: servers[0].purge(name).headers.get("X-Purge-Warning") is None) is not None)
    redis.kill()
    all_right("Redis killed")
    gaps = [server.metric("redis_gaps_total") for server in servers]
    redis.start()
    expect("each server counts the gap", eventually(
        lambda: all(server.metric("redis_gaps_total") > n for server, n in zip(servers, gaps))) is not None)
    expect("and purges reach them again", eventually(
        lambda: servers[0].purge(name).headers.get("X-Purge-Warning") is None) is not None)
    all_right("Redis restarted")
    with SharingServer(program, folder, endpoint, key, redis, password="wrong") as server:
        expect("a wrong password: the response", server.get("/300x300/1.jpg").status, 200)
        expect("and the metric", eventually(
            lambda: server.metric('redis_failures_total{use="connection",reason="refused"}') > 0) is not None)


def check_rights(images, redis, program, folder, endpoint, key):
    """A user of an access control list with the rights in Documentation/serving.md."""
    text = (TESTS.parent / "Documentation/serving.md").read_text()
    rights = re.search(r"`(\+eval [^`]*)`", text)[1].split()
    redis.command("ACL", "SETUSER", "servers", "on", ">other", *rights)
    with SharingServer(
            program, folder, endpoint, key, redis, "--rate-limit", "100", user="servers",
            password="other") as server:
        eventually(lambda: server.metric("redis_connections_total") == 2)
        name = images.next()
        expect("a user with few rights: the response", server.get(f"/300x300/{name}").status, 200)
        eventually(lambda: server.metric("result_bucket_writes_total") > 0)
        expect("the purge", server.purge(f"/{name}").headers.get("X-Purge-Warning"), None)

        def takes_lock():
            server.get(f"/300x300/{images.next()}")
            return server.metric("rendition_locks_taken_total") > 0

        # On a busy machine, Redis may respond after the time limit, and the server continues without a lock.
        expect("the lock", eventually(takes_lock) is not None)
        refusals = [line for line in server.get("/metrics").body.decode().splitlines()
                    if "redis_failures" in line and 'reason="refused"' in line]
        expect("nothing is refused", refusals, [])


def main():
    program = sys.argv[1]
    store = s3_peer.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    store.start()
    endpoint = "http://%s:%d" % store.get_host_and_port()
    with contextlib.ExitStack() as stack:
        stack.callback(store.stop)
        folder, redis_folder = (stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2))
        images = Images(folder)
        images.next()
        key = s3_peer.fill(endpoint, (pathlib.Path(folder) / "1.jpg").read_bytes())
        client = s3_peer.boto3.client(
            "s3", endpoint_url=endpoint, region_name="us-east-1",
            aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"])
        # Without `reset-auth`: moto computes wrong signatures for lists with a slash in the prefix, also for boto3.
        redis = Redis(redis_folder)
        stack.callback(redis.kill)
        check_script(redis)

        def three(redis, *options):
            return [
                stack.enter_context(SharingServer(program, folder, endpoint, key, redis, *options))
                for _ in range(3)]

        alone = three(None)
        print("decodes without Redis:", check_decodes(alone, images, False)[1], flush=True)
        for server in alone:
            server.stop()
        servers = three(redis)
        expect("all connect", eventually(
            lambda: all(server.metric("redis_connections_total") == 2 for server in servers)) is not None)
        undisturbed, counts = check_decodes(servers, images, True)
        print("decodes with Redis:", counts)
        expect("rounds in time", undisturbed > 0)
        check_purge(servers, images, client)
        check_failures(servers, images, redis, program, folder, endpoint, key)
        check_rights(images, redis, program, folder, endpoint, key)
        limited = three(redis, "--rate-limit", "1")
        eventually(lambda: total(limited, "redis_connections_total") == 6)
        check_rate(limited)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
