# SPDX-License-Identifier: Apache-2.0
"""A running `calotype serve`: starting, stopping, killing and measuring it, and a client for it."""

import contextlib
import http.client
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "Corpus"
MEBIBYTE = 1 << 20


class Server:
    """A server of one folder.

    Its standard error goes into a file beside the cache, so that the reason of a death can be shown.
    """

    def __init__(self, program, folder, cache, *options, descriptors=None, environment=None):
        self.cache = pathlib.Path(cache)
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        self.log = self.cache.with_name(self.cache.name + ".log")
        self.arguments = [str(program), "serve", str(folder), "--port", "0",
                          "--cache-directory", str(cache), *options]
        self.descriptors, self.environment = descriptors, environment or {}
        self.start()

    def start(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.arguments, stdout=subprocess.PIPE, stderr=log, text=True,
                # A backtrace takes seconds, and the reason stands before it.
                env=dict(os.environ, SWIFT_BACKTRACE="enable=no", **self.environment),
                preexec_fn=limit if self.descriptors else None)
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if " at http" not in line:
            self.process.wait()
            raise ServerEnded(f"the server did not start: {line!r} {self.last_words()}")
        self.process.stdout.close()
        self.address = line.split(" at ")[1].strip().rstrip("/")
        self.port = int(self.address.rsplit(":", 1)[1])

    def is_alive(self):
        return self.process.poll() is None

    def has_died(self, seconds=3):
        """Whether the server ends within a moment, as one does that has just lost its connections."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=seconds)
        return not self.is_alive()

    def last_words(self):
        """The last lines of standard error that are no ordinary log lines."""
        with contextlib.suppress(OSError):
            lines = self.log.read_text(errors="replace").splitlines()
            return " | ".join((fatal_lines(lines) or lines)[-2:])[:400]
        return ""

    def stop(self, seconds=30):
        """Ends the server as an operator does; returns its exit status."""
        if self.is_alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def kill(self, seconds=10):
        """Kills the host, and returns the workers that were left `seconds` later."""
        workers = self.workers()
        self.process.kill()
        self.process.wait()
        deadline = time.monotonic() + seconds
        while left := [worker for worker in workers if is_running(worker)]:
            if time.monotonic() > deadline:
                return left
            time.sleep(0.01)
        return []

    def workers(self):
        return children(self.pid)

    def resident(self):
        """Bytes of memory that the host holds, without its workers."""
        return resident(self.pid)

    def resident_with_workers(self):
        return resident(self.pid) + sum(resident(worker) for worker in self.workers())

    def processor_seconds(self):
        """Processor time of the host, without its workers."""
        return processor_seconds(self.pid)

    def processor_seconds_with_workers(self):
        return sum(processor_seconds(process) for process in (self.pid, *self.workers()))

    def client(self, **options):
        return Client(self.port, **options)

    def get(self, path, headers=None, **options):
        """One request over a connection of its own."""
        with self.client(**options) as client:
            return client.get(path, headers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class ServerEnded(Exception):
    """The server ended, or did not start."""


class Answer:
    """A whole answer, and how long it took from the request to the last byte."""

    def __init__(self, status, body, headers, seconds):
        self.status, self.body, self.headers, self.seconds = status, body, headers, seconds

    @property
    def tag(self):
        return self.headers.get("ETag")

    def __repr__(self):
        return f"{self.status} ({len(self.body)} bytes, {self.seconds:.3f} s)"


class Client:
    """A client with one connection that is kept; `source` is the loopback address it comes from."""

    def __init__(self, port, source=None, timeout=60):
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=timeout, source_address=(source, 0) if source else None)

    def get(self, path, headers=None, method="GET", body=None):
        was_open = self.connection.sock is not None
        start = time.monotonic()
        try:
            return self.ask(method, path, headers, body, start)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.connection.close()
            # A server may close a connection that it kept at any time between two requests.
            if not was_open:
                raise
            return self.ask(method, path, headers, body, start)
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise

    def ask(self, method, path, headers, body, start):
        headers = headers or {}
        self.connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            self.connection.putheader(name, value)
        if body is not None:
            self.connection.putheader("Content-Length", str(len(body)))
        self.connection.endheaders(body)
        answer = self.connection.getresponse()
        read = answer.read()
        return Answer(answer.status, read, answer.headers, time.monotonic() - start)

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def raw_connection(port, request=b"", receive_buffer=None, timeout=10, source=None):
    """A socket that has sent `request`; with a small receive buffer nothing fits into the kernel's."""
    connection = socket.socket()
    connection.settimeout(timeout)
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    if source:
        connection.bind((source, 0))
    try:
        connection.connect(("127.0.0.1", port))
        if request:
            connection.sendall(request)
    except OSError:
        connection.close()
        raise
    return connection


def quoted(name):
    """A file name, as text or as bytes, in the form of an address."""
    return urllib.parse.quote(name, safe="")


def fatal_lines(lines):
    return [line for line in lines if "Fatal error" in line or "rashed" in line or "rror:" in line]


def process_fields(process):
    """The fields of /proc/PID/stat behind the name, or nothing if there is no such process."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def processor_seconds(process):
    fields = process_fields(process)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def children(parent):
    found = []
    for entry in os.listdir("/proc"):
        fields = process_fields(entry) if entry.isdigit() else []
        if fields and int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(entry))
    return found


def is_running(process):
    return process_fields(process)[:1] not in ([], ["Z"])


def resident(process):
    with contextlib.suppress(OSError, IndexError):
        text = pathlib.Path(f"/proc/{process}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) << 10
    return 0


def copy_photographs(context, folder, count):
    """Copies the first photographs into a folder; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for number, photograph in enumerate(context.photographs()[:count]):
        name = f"{number}{photograph.suffix.lower()}"
        shutil.copy(photograph, folder / name)
        names.append(name)
    return names
