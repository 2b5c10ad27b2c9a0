# SPDX-License-Identifier: Apache-2.0
"""Compares the server with nginx's image_filter, thumbor and iipsrv on this machine: PROGRAM PHOTO.

Cold: 60 copies of a photograph, each requested once at 512 pixels over 8 connections.
Sizes: 60 sizes of one photograph, from 32 to 2048 pixels, all requested at the same time.
Pages: six sizes of each of 60 copies of a photograph over 8 connections, those of a copy among those of 8 others.
Hot: one cached rendition, requested repeatedly over 8 connections; nginx sends the same bytes from its cache of
  responses, and as a file.
Mixed: cached renditions and the health check, while cold requests use all cores.
Tiles: random 256-pixel tiles of a JPEG-compressed pyramid over IIIF; with vips and iipsrv, compared with that.

Prints a table of medians. Peers that are not installed are left out: nginx and wrk come from Debian
(nginx-light, libnginx-mod-http-image-filter, wrk, iipimage-server), thumbor from PyPI (THUMBOR=path of its program).
"""

import collections
import concurrent.futures
import http.client
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

COUNT, CONNECTIONS, ROUNDS, SECONDS = 60, 8, 3, 5


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(connection, path):
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


class Server:
    """An image server as a child process."""

    def __init__(self, name, command, port, cold, kept=()):
        self.name, self.command, self.port, self.cold, self.kept = name, command, port, cold, kept

    def start(self):
        for folder in self.kept:
            shutil.rmtree(folder, ignore_errors=True)
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{self.name} did not start")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def memory(self) -> int:
        """The resident memory of the server and its descendants, in MiB."""
        held, children = {}, collections.defaultdict(list)
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                text = status.read_text()
            except OSError:
                continue
            fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            held[int(fields["Pid"])] = int(fields.get("VmRSS", "0 kB").split()[0])
            children[int(fields["PPid"])].append(int(fields["Pid"]))
        family = [self.process.pid]
        for process in family:
            family += children[process]
        return sum(held.get(process, 0) for process in family) // 1024


def cold(server) -> tuple[float, int]:
    """Requests per second, and the memory afterwards in MiB."""
    server.start()
    try:
        paths = [server.cold(number) for number in range(COUNT)]
        start = time.monotonic()

        def work(mine):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
            for path in mine:
                status, body = get(connection, path)
                assert status == 200 and len(body) > 1000, (server.name, path, status)

        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(work, [paths[index::CONNECTIONS] for index in range(CONNECTIONS)]))
        return COUNT / (time.monotonic() - start), server.memory()
    finally:
        server.stop()


def sizes(server) -> tuple[float, float]:
    """Milliseconds until half of the sizes of a photograph have arrived, and until all have."""
    server.start()
    try:
        sides = [32 + number * (2048 - 32) // (COUNT - 1) for number in range(COUNT)]
        # In a shuffled order that is the same each time.
        paths = [server.cold(0).replace("512x512", f"{side}x{side}")
                 for _, side in sorted((side * 7919 % 997, side) for side in sides)]
        barrier = threading.Barrier(COUNT + 1)

        def work(path):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
            connection.connect()
            barrier.wait()
            status, _ = get(connection, path)
            assert status == 200, (server.name, path, status)
            return time.monotonic()

        with concurrent.futures.ThreadPoolExecutor(COUNT) as pool:
            answers = [pool.submit(work, path) for path in paths]
            barrier.wait()
            start = time.monotonic()
            times = sorted((answer.result() - start) * 1000 for answer in answers)
        return statistics.median(times), times[-1]
    finally:
        server.stop()


def pages(server) -> float:
    """Images in six sizes per second."""
    server.start()
    try:
        rng = random.Random(1)
        requests = [(number + 8 * rng.random(), number, side)
                    for number in range(COUNT) for side in (160, 240, 320, 480, 640, 800)]
        paths = [server.cold(number).replace("512x512", f"{side}x{side}")
                 for _, number, side in sorted(requests)]
        start = time.monotonic()

        def work(mine):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
            for path in mine:
                status, _ = get(connection, path)
                assert status == 200, (server.name, path, status)

        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(work, [paths[index::CONNECTIONS] for index in range(CONNECTIONS)]))
        return COUNT / (time.monotonic() - start)
    finally:
        server.stop()


def wrk(port, path, requests="") -> tuple[float, float]:
    """Requests per second, and the 99th percentile of latency in milliseconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(
            requests + "done = function(summary, latency)\n"
            "io.write(string.format('RESULT %f %f\\n', summary.requests / summary.duration * 1e6, "
            "latency:percentile(99) / 1000)) end\n")
        script.flush()
        text = subprocess.run(
            ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", script.name,
             f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True).stdout
    fields = next(line for line in text.splitlines() if line.startswith("RESULT")).split()
    return float(fields[1]), float(fields[2])


def hot(own, nginx) -> dict:
    """Requests per second and the 99th percentile of one cached rendition, medians of the rounds."""
    path = own.cold(0)
    targets = {"calotype": (own.port, path)}
    if nginx:
        targets["nginx, from its cache of responses"] = (nginx.port, "/cached" + path)
        targets["nginx, the same bytes as a file"] = (nginx.port, "/hot.bin")
    started = []
    try:
        for server in filter(None, (own, nginx)):
            server.start()
            started.append(server)
        results = collections.defaultdict(list)
        for name, (port, path) in targets.items():
            status, _ = get(http.client.HTTPConnection("127.0.0.1", port), path)
            assert status == 200, (name, path, status)
        for _ in range(ROUNDS):
            for name, target in targets.items():
                results[name].append(wrk(*target))
        return {name: [statistics.median(column) for column in zip(*values)] for name, values in results.items()}
    finally:
        for server in started:
            server.stop()


def mixed(server) -> dict:
    """Latencies of cached renditions and of the health check while all cores produce renditions."""
    server.start()
    try:
        hot = server.cold(0)
        get(http.client.HTTPConnection("127.0.0.1", server.port), hot)
        isOver = threading.Event()
        latencies = {"hot": [], "health": []}

        def make(index):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
            number = index
            while not isOver.is_set():
                # Each size of an image once.
                side = 300 + number // COUNT
                get(connection, server.cold(1 + number % (COUNT - 1)).replace("512x512", f"{side}x{side}"))
                number += CONNECTIONS

        def ask(name, path):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
            while not isOver.is_set():
                start = time.monotonic()
                status, _ = get(connection, path)
                assert status == 200
                latencies[name].append((time.monotonic() - start) * 1000)
                isOver.wait(0.005)

        threads = [threading.Thread(target=make, args=(index,)) for index in range(CONNECTIONS)]
        threads += [threading.Thread(target=ask, args=pair)
                    for pair in (("hot", hot), ("health", "/healthz"))]
        for thread in threads:
            thread.start()
        time.sleep(SECONDS * 2)
        isOver.set()
        for thread in threads:
            thread.join()
        result = {name: statistics.quantiles(values, n=100)[98]
                  for name, values in latencies.items()}
        result["worst health"] = max(latencies["health"])
        return result
    finally:
        server.stop()


def pyramid(photo, file) -> list[str]:
    """Writes a pyramid of a photograph; returns the IIIF parameters of its tiles."""
    width, height = 7168, 4096
    # Whole tiles only: iipsrv has no others.
    subprocess.run(["vips", "thumbnail", photo, f"{file}.v", str(width), "--height", str(height),
                    "--size", "force"], check=True)
    subprocess.run(["vips", "tiffsave", f"{file}.v", str(file), "--tile", "--pyramid",
                    "--compression", "jpeg", "--tile-width", "256", "--tile-height", "256",
                    "--strip"], check=True)
    Path(f"{file}.v").unlink()
    return [f"{x},{y},{side},{side}/256,256/0/default.jpg" for side in (256, 512, 1024)
            for y in range(0, height, side) for x in range(0, width, side)]


def iipsrv(folder, photos) -> Server | None:
    program = "/usr/lib/iipimage-server/iipsrv.fcgi"
    if not (shutil.which("nginx") and os.path.exists(program)):
        return None
    port = free_port()
    configuration = folder / "iipsrv.conf"
    processes = range(os.cpu_count() or 1)
    servers = " ".join(f"server unix:{folder}/iipsrv{number};" for number in processes)
    configuration.write_text(f"""
        worker_processes auto; daemon off; pid {folder}/iipsrv.pid; error_log /dev/null crit;
        user root;
        events {{ worker_connections 512; }}
        http {{ access_log off; keepalive_requests 1000000; upstream iipsrv {{ {servers} }}
          server {{ listen 127.0.0.1:{port}; location / {{
            fastcgi_pass iipsrv; fastcgi_param REQUEST_URI $request_uri;
            fastcgi_param QUERY_STRING ""; }} }} }}""")
    # The shell ends its children with itself.
    environment = f"export FILESYSTEM_PREFIX={photos}/ VERBOSITY=0 URI_MAP='iiif/3=>IIIF'; "
    start = "".join(f"{program} --bind {folder}/iipsrv{number} & " for number in processes)
    return Server("iipsrv", ["bash", "-c", f"trap 'kill $(jobs -p)' EXIT TERM; {environment}"
                             f"{start}nginx -c {configuration} & wait"], port, None)


def tiles(server, parameters) -> tuple[float, float]:
    """Requests per second, and the 99th percentile of latency in milliseconds."""
    server.start()
    try:
        paths = [f"/iiif/3/pyramid.tif/{tile}" for tile in parameters]
        time.sleep(1)
        for path in paths[:20]:
            status, body = get(http.client.HTTPConnection("127.0.0.1", server.port), path)
            assert status == 200 and len(body) > 500, (server.name, path, status)
        table = ",".join(f"'{path}'" for path in paths)
        return wrk(server.port, "/", f"local paths = {{{table}}}\n"
                   "request = function() return wrk.format('GET', paths[math.random(#paths)]) end\n")
    finally:
        server.stop()


def nginx(folder, photos, hot_bytes, origin) -> Server | None:
    if not shutil.which("nginx"):
        return None
    port = free_port()
    module = Path("/usr/lib/nginx/modules/ngx_http_image_filter_module.so")
    (photos / "hot.bin").write_bytes(hot_bytes)
    configuration = folder / "nginx.conf"
    configuration.write_text(f"""
        {f'load_module {module};' if module.exists() else ''}
        worker_processes auto; daemon off; pid {folder}/nginx.pid; error_log /dev/null crit;
        user root;
        events {{ worker_connections 512; }}
        http {{ access_log off; keepalive_requests 1000000; sendfile on; tcp_nopush on;
          proxy_cache_path {folder}/responses levels=1:2 keys_zone=responses:10m;
          server {{ listen 127.0.0.1:{port};
            location /cached/ {{
              proxy_pass http://127.0.0.1:{origin}/; proxy_cache responses; proxy_cache_valid 200 10m;
              proxy_ignore_headers Cache-Control; }}
            location ~ ^/([0-9]+)x[0-9]+/(.*)$ {{
              alias {photos}/$2; image_filter resize $1 $1; image_filter_buffer 64M;
              image_filter_jpeg_quality 80; }}
            location / {{ root {photos}; }} }} }}""")
    return Server("nginx image_filter", ["nginx", "-c", str(configuration)], port,
                  lambda number: f"/512x512/{number}.jpg")


def thumbor(folder, photos) -> Server | None:
    program = os.environ.get("THUMBOR") or shutil.which("thumbor")
    if not program:
        return None
    port = free_port()
    configuration = folder / "thumbor.conf"
    configuration.write_text(
        f"LOADER='thumbor.loaders.file_loader'\nFILE_LOADER_ROOT_PATH='{photos}'\n"
        "STORAGE='thumbor.storages.no_storage'\nRESULT_STORAGE=None\nQUALITY=80\n")
    return Server(
        "thumbor", [program, "-p", str(port), "-i", "127.0.0.1", "-c", str(configuration),
                    "--processes", "2", "-l", "error"],
        port, lambda number: f"/unsafe/fit-in/512x512/{number}.jpg")


def main():
    program, photo = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        photos = folder / "photos"
        photos.mkdir()
        for number in range(COUNT):
            shutil.copy(photo, photos / f"{number}.jpg")
        port = free_port()
        store = folder / "store"
        own = Server(
            "calotype", [program, "serve", str(photos), "--port", str(port), "--sizes", "exact",
                         "--cache-directory", str(store)], port,
            lambda number: f"/512x512/{number}.jpg", [store])
        open_ = Server(
            "calotype --no-sandbox", own.command + ["--no-sandbox"], port, own.cold, [store])
        own.start()
        hot_bytes = get(http.client.HTTPConnection("127.0.0.1", port), own.cold(0))[1]
        own.stop()
        peers = [peer for peer in (nginx(folder, photos, hot_bytes, port), thumbor(folder, photos)) if peer]
        servers = [own, open_] + peers

        figures = {server.name: [] for server in servers}
        memory = {}
        for _ in range(ROUNDS):
            for server in servers:
                rate, memory[server.name] = cold(server)
                figures[server.name].append(rate)
        rates = {name: statistics.median(values) for name, values in figures.items()}
        print(f"{COUNT} images at 512 pixels, {CONNECTIONS} connections   per second   "
              "calotype is faster by   MiB")
        for name, rate in rates.items():
            print(f"  {name:36} {rate:10.1f} {rates['calotype'] / rate:18.2f} {memory[name]:12}")

        print(f"\n{COUNT} sizes of an image at once, ms until half have arrived   all   "
              "calotype is faster by")
        figures = {server.name: [sizes(server) for _ in range(ROUNDS)] for server in servers}
        ends = {name: [statistics.median(column) for column in zip(*values)]
                for name, values in figures.items()}
        for name, (half, end) in ends.items():
            print(f"  {name:36} {half:22.0f} {end:8.0f} {end / ends['calotype'][1]:10.2f}")

        print("\nsix sizes of an image                images per second   calotype is faster by")
        figures = {server.name: [pages(server) for _ in range(ROUNDS)] for server in servers}
        rates = {name: statistics.median(values) for name, values in figures.items()}
        for name, rate in rates.items():
            print(f"  {name:36} {rate:16.1f} {rates['calotype'] / rate:21.2f}")

        print("\ncached renditions                     per second    99 % within ms")
        for name, (rate, latency) in hot(own, next((p for p in peers if p.name.startswith("nginx")), None)).items():
            print(f"  {name:36} {rate:10.0f} {latency:14.2f}")
        if shutil.which("vips"):
            parameters = pyramid(photo, photos / "pyramid.tif")
            print("\ntiles of a pyramid over IIIF           per second    99 % within ms")
            for server in (own, iipsrv(folder, photos)):
                if server:
                    rate, latency = tiles(server, parameters)
                    print(f"  {server.name:36} {rate:10.0f} {latency:14.2f}")
        print("\nwhile all cores produce renditions: 99 % within ms")
        for key, value in mixed(own).items():
            print(f"  {key:36} {value:10.1f}")


main()
