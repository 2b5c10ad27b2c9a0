#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that all URLs of an original meet on one of three servers behind the proxies of Packaging; restarts and kills them.

Counts the decodes with hashing and round robin: a server shares a decode among sizes for which its decoder shrinks luma
and chroma alike, also those that are requested later.

usage: cluster.py CALOTYPE [--originals N]; needs nginx and Pillow, and tests HAProxy and Varnish where installed
"""

import argparse
import collections
import concurrent.futures
import http.client
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request

from scale import check, linked, photograph, report_missed

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Steps of the server's size ladder. The decoder shrinks 3000×2000 pixels to these in three ways, two sizes each: luma and
# chroma to a quarter, chroma to an eighth, both to an eighth. As the bytes of a size depend on no other size, three
# decodes are the minimum.
SIZES = [384, 320, 256, 224, 160, 112]
# All of them are decoded at an eighth.
EQUAL_SIZES = [160, 128, 112, 96, 80, 64]
PORT = 18090
# The `fail_timeout` of nginx-cluster.conf in seconds.
FAIL_TIMEOUT = 5


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as response:
        return response.headers, response.read()


def await_response(port, path):
    for _ in range(300):
        try:
            return get(port, path)
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"no response on port {port}")


def decode_count(port):
    text = get(port, "/metrics")[1].decode()
    return int(float(re.search(r"^calotype_image_decode_seconds_count ([0-9.e+]+)", text, re.M)[1]))


def configuration(work, is_hashed):
    path = site(work, "nginx-cluster.conf")
    if not is_hashed:
        path.write_text(re.sub(r"\n\s*hash [^\n]*", "", path.read_text()))
    (work / "nginx.conf").write_text(
        f"pid {work}/nginx.pid; error_log {work}/nginx.log; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {work}/temp; include {path}; }}\n")
    return ["nginx", "-p", str(work), "-c", str(work / "nginx.conf"), "-g", "daemon off;"]


def site(work, name):
    """Returns the path of a configuration in Packaging for the servers of this test."""
    text = (ROOT / "Packaging" / name).read_text().replace("listen 80;", f"listen 127.0.0.1:{PORT};")
    text = text.replace("bind :80\n", f"bind 127.0.0.1:{PORT + 4}\n")
    for index in (1, 2, 3):
        text = text.replace(f"10.0.0.{index}:8080", f"127.0.0.1:{PORT + index}")
        text = text.replace(f'"10.0.0.{index}"; .port = "8080"', f'"127.0.0.1"; .port = "{PORT + index}"')
    # A request of which the end is not noticed yet would count as load.
    text = text.replace("    hash-balance-factor 150\n", "")
    path = work / name
    path.write_text(text)
    return path


def check_servers(work, names):
    """Checks with each proxy that is installed that all URLs of an original meet on one server."""
    proxies = {
        "nginx": (PORT, None),
        "haproxy": (PORT + 4, ["haproxy", "-f", str(site(work, "haproxy.cfg"))]),
        "varnishd": (PORT + 5, [
            "varnishd", "-F", "-j", "none", "-a", f"127.0.0.1:{PORT + 5}", "-n", str(work / "varnish"), "-s", "malloc,32m",
            "-f", str(site(work, "varnish-cluster.vcl"))])}
    for name, (port, command) in proxies.items():
        if shutil.which(name) is None:
            print(f"{name}: not installed")
            continue
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if command else None
        try:
            await_response(port, "/healthz")
            used = set()
            for original in names[:8]:
                paths = [f"/in/{size}x{size}/{original}" for size in SIZES] + [
                    f"/iiif/3/in%2F{original}/full/120,/0/default.jpg", f"/iiif/3/in%2F{original}/info.json",
                    f"/tiles/in/{original}.dzi", f"/tiles/in/{original}.json", f"/tiles/in/{original}_files/9/0_0.jpeg",
                    f"/info/in/{original}", f"/placeholder/in/{original}", f"/in/{original}",
                    f"/in/300x@2x,fill,q70,webp/{original}", f"/in/_x300/{original}"]
                found = {path: get(port, path)[0]["X-Server"] for path in paths}
                assert len(set(found.values())) == 1, f"{name}: several servers for an original: {found}"
                used.update(found.values())
            assert len(used) > 1, f"{name}: one server for all originals: {used}"
            print(f"{name}: all URLs of an original meet on one server", flush=True)
        finally:
            if process:
                process.terminate()
                process.wait()


class Servers:
    """Three servers of the same folder, each with its own cache."""

    def __init__(self, program, work, folder, name):
        self.commands = [
            [program, "serve", str(folder), "--port", str(PORT + index), "--metrics", "--cache-directory",
             str(work / f"cache-{name}-{index}")]
            for index in (1, 2, 3)]
        self.processes = [self.start(number) for number in range(3)]

    def start(self, number):
        return subprocess.Popen(self.commands[number], stdout=subprocess.DEVNULL)

    def await_all(self):
        for index in (1, 2, 3):
            await_response(PORT + index, "/healthz")

    def restart_each(self):
        """Restarts one server after the other, further apart than the `fail_timeout` of nginx.

        Otherwise nginx avoids all three at the same time.
        """
        for number in range(3):
            self.processes[number].terminate()
            self.processes[number].wait()
            self.processes[number] = self.start(number)
            await_response(PORT + 1 + number, "/healthz")
            time.sleep(FAIL_TIMEOUT + 1)

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()


def run(program, work, folder, names, is_hashed, sizes=SIZES):
    """Requests all sizes of all originals; returns the number of decodes, and the bytes of each response."""
    label = "hash" if is_hashed else "round robin"
    servers = Servers(program, work, folder, f"{is_hashed}-{sizes[0]}")
    proxy = None
    try:
        # nginx avoids for a while a server that has refused connections.
        servers.await_all()
        proxy = subprocess.Popen(configuration(work, is_hashed))
        await_response(PORT, "/healthz")
        # The sizes of a page: those of an original shortly after each other, the originals in any order.
        random.Random(1).shuffle(names)
        paths = [f"/in/{size}x{size}/{name}" for name in names for size in sizes]
        with concurrent.futures.ThreadPoolExecutor(len(sizes)) as pool:
            responses = dict(zip(paths, pool.map(lambda path: get(PORT, path), paths)))
        found = {}
        for path, (headers, _) in responses.items():
            found.setdefault(path.rsplit("/", 1)[1], set()).add(headers["X-Server"])
        counts = [decode_count(PORT + index) for index in (1, 2, 3)]
        print(f"{label}: {len(paths)} requests, {sum(counts)} decodes on three servers {counts}", flush=True)
        if is_hashed:
            scattered = {name: several for name, several in found.items() if len(several) > 1}
            assert not scattered, f"sizes of an original on several servers: {scattered}"
        bodies = {path: body for path, (_, body) in responses.items()}
        if is_hashed and sizes is SIZES:
            check_servers(work, names)
            check_restarts(servers, bodies)
            check_kill(servers, bodies)
        return sum(counts), bodies
    finally:
        servers.stop()
        if proxy:
            proxy.terminate()
            proxy.wait()


def requests_during(bodies, action):
    """Returns the start, the duration and the result of each request while `action` runs.

    The result is whether the body is as expected, and the error if there was none.
    """
    results, is_over = [], threading.Event()

    def client(seed):
        rng, paths = random.Random(seed), list(bodies)
        while not is_over.is_set():
            path, start = rng.choice(paths), time.monotonic()
            try:
                result = get(PORT, path)[1] == bodies[path]
            except (OSError, http.client.HTTPException) as error:
                result = str(error)
            results.append((start, time.monotonic() - start, result))

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    try:
        action()
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    return results


def failed_share(what, results):
    """Prints how many requests failed, in percent; a wrong response ends the program."""
    outcomes = [result for _, _, result in results]
    errors = collections.Counter(outcome for outcome in outcomes if isinstance(outcome, str))
    wrong = outcomes.count(False)
    print(f"{what}: {errors.total()} of {len(outcomes)} requests failed {dict(errors)}, {wrong} wrong responses", flush=True)
    assert wrong == 0
    return 100 * errors.total() / len(outcomes)


def check_restarts(servers, bodies):
    """Restarts one server after the other: nginx must answer from the others."""
    results = requests_during(bodies, servers.restart_each)
    check("failed requests during restarts", failed_share("each server restarted", results), 0, " %")


def check_kill(servers, bodies):
    """Kills a server: nginx must answer from the others, which make the images of the killed one."""
    killed = []

    def kill():
        time.sleep(5)
        killed.append(time.monotonic())
        servers.processes[0].kill()
        time.sleep(15)

    results = requests_during(bodies, kill)
    check("failed requests", failed_share("one of three servers killed", results), 0.5, " %")

    def percentile(begin, end):
        times = [duration for start, duration, _ in results if begin <= start - killed[0] < end]
        return 1000 * statistics.quantiles(times, n=100)[98]

    before, after = percentile(-5, 0), percentile(10, 15)
    print(f"99th percentile: {before:.1f} ms before the kill, {percentile(0, 10):.1f} ms within 10 s, {after:.1f} ms later")
    check("99th percentile 10 s after the kill, of that before", after / before, 1.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--originals", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.chmod(work, 0o755)
        (work / "temp").mkdir()
        (work / "photographs").mkdir()
        photograph(work / "original.jpg", (3000, 2000))
        names = [path.name for path in linked(work / "photographs/in", work / "original.jpg", arguments.originals)]
        program = os.path.abspath(arguments.program)
        scattered, expected = run(program, work, work / "photographs", names, False)
        decodes, found = run(program, work, work / "photographs", names, True)
        assert expected == found, "a response differs"
        equal, _ = run(program, work, work / "photographs", names, True, EQUAL_SIZES)
        print(f"decodes for each original: {scattered / len(names):.2f} round robin, {decodes / len(names):.2f} hashed; "
              f"sizes that one decode can make: {equal / len(names):.2f}")
        check("decodes for each original with hashing", decodes / len(names), 1.1)
        check("decodes for each original with hashing, equal sizes", equal / len(names), 1.1)
    report_missed()


if __name__ == "__main__":
    main()
