# SPDX-License-Identifier: Apache-2.0
"""Starts, stops, kills and measures a `calotype serve` process; with an HTTP client for it."""

import contextlib
import http.client
import os
import pathlib
import resource
import signal
import socket
import subprocess
import time
import urllib.parse

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "Corpus"
MEBIBYTE = 1 << 20


class Server:
    """A server of one folder.

    `descriptors` limits its open files. `listener` is a socket that is passed on as systemd does.
    Standard error is written to a file beside the cache, so that a report can quote it.
    """

    def __init__(self, program, folder, cache, *options, descriptors=None, environment=None,
                 listener=None):
        self.cache = pathlib.Path(cache)
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        self.log = self.cache.with_name(self.cache.name + ".log")
        self.arguments = [str(program), "serve", str(folder), "--port", "0",
                          "--cache-directory", str(cache), *options]
        self.descriptors, self.environment = descriptors, dict(environment or {})
        self.listener = listener
        self.start()

    def start(self):
        arguments, environment = self.arguments, self.environment
        if self.listener:
            # LISTEN_PID must be the process id of the server itself, hence the shell.
            arguments = ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *arguments]
            environment = environment | {"LISTEN_FDS": "1"}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                arguments, stdout=subprocess.PIPE, stderr=log, text=True,
                # A backtrace takes seconds, and the reason precedes it.
                env=dict(os.environ, SWIFT_BACKTRACE="enable=no", **environment),
                preexec_fn=self.prepare if self.descriptors or self.listener else None,
                close_fds=self.listener is None)
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if " at http" not in line:
            self.process.wait()
            raise ServerEnded(f"the server did not start: {line!r} {self.last_error()}")
        self.process.stdout.close()
        self.url = line.split(" at ")[1].strip().rstrip("/")
        self.port = int(self.url.rsplit(":", 1)[1])

    def prepare(self):
        """Runs in the new process before the program."""
        if self.descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))
        if self.listener:
            os.dup2(self.listener.fileno(), 3)
            # dup2 does nothing if the socket is descriptor 3 already.
            os.set_inheritable(3, True)

    def is_alive(self):
        return self.process.poll() is None

    def has_ended(self, seconds=3):
        """Whether the server ends within some seconds, as after losing its connections."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=seconds)
        return not self.is_alive()

    def last_error(self):
        """The last error lines of standard error, or else its last lines."""
        with contextlib.suppress(OSError):
            lines = self.log.read_text(errors="replace").splitlines()
            return " | ".join((fatal_lines(lines) or lines)[-2:])[:400]
        return ""

    def reload(self, seconds=20):
        """Sends SIGHUP, and waits until the log mentions the certificate."""
        logged = self.log.stat().st_size
        self.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + seconds
        while b"certificate" not in self.log.read_bytes()[logged:]:
            if not self.is_alive() or time.monotonic() > deadline:
                raise ServerEnded(f"the server did not reload: {self.last_error()}")
            time.sleep(0.01)

    def stop(self, seconds=30):
        """Sends SIGTERM; returns the exit status, or nothing if the server had to be killed."""
        if self.is_alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def kill(self, seconds=10):
        """Kills the host; returns the workers that still run `seconds` later."""
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
        """Resident bytes of the host, without its workers."""
        return resident(self.pid)

    def resident_with_workers(self):
        return resident(self.pid) + sum(resident(worker) for worker in self.workers())

    def unshared_with_workers(self):
        """Resident bytes of the host, and of its workers without the files that they all map."""
        return resident(self.pid) + sum(
            resident(worker, kind) for worker in self.workers() for kind in ("RssAnon", "RssShmem"))

    def processor_seconds(self):
        """CPU seconds of the host, without its workers."""
        return processor_seconds(self.pid)

    def processor_seconds_with_workers(self):
        return sum(processor_seconds(process) for process in (self.pid, *self.workers()))

    def client(self, **options):
        return Client(self.port, **options)

    def get(self, path, headers=None, **options):
        """Sends one request over a new connection."""
        with self.client(**options) as client:
            return client.get(path, headers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class CheckedServer(Server):
    """A server that must end with status 0 after SIGTERM."""

    def __exit__(self, *_):
        if (status := self.stop()) != 0:
            raise ServerEnded(f"the server ended with {status}: {self.last_error()}")


class ServerEnded(Exception):
    """The server ended unexpectedly, or did not start."""


class Response:
    """A complete response, with the seconds from the request to its last byte."""

    def __init__(self, status, body, headers, seconds):
        self.status, self.body, self.headers, self.seconds = status, body, headers, seconds

    @property
    def tag(self):
        return self.headers.get("ETag")

    def __repr__(self):
        return f"{self.status} ({len(self.body)} bytes, {self.seconds:.3f} s)"


class Client:
    """A client with one persistent connection; `source` is its own loopback address."""

    def __init__(self, port, source=None, timeout=60):
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=timeout, source_address=(source, 0) if source else None)

    def get(self, path, headers=None, method="GET", body=None):
        was_open = self.connection.sock is not None
        start = time.monotonic()
        try:
            return self.request(method, path, headers, body, start)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.connection.close()
            # A server may close a persistent connection at any time between two requests.
            if not was_open:
                raise
            return self.request(method, path, headers, body, start)
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise

    def request(self, method, path, headers, body, start):
        headers = headers or {}
        self.connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            self.connection.putheader(name, value)
        if body is not None:
            self.connection.putheader("Content-Length", str(len(body)))
        self.connection.endheaders(body)
        response = self.connection.getresponse()
        received = response.read()
        return Response(response.status, received, response.headers, time.monotonic() - start)

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def raw_connection(port, request=b"", receive_buffer=None, timeout=10, source=None):
    """Returns a socket that has sent `request`; a small receive buffer keeps the kernel from buffering."""
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
    """Percent-encodes a file name, given as text or bytes."""
    return urllib.parse.quote(name, safe="")


def fatal_lines(lines):
    return [line for line in lines if "Fatal error" in line or "rashed" in line or "rror:" in line]


def process_fields(process):
    """Returns the fields of /proc/PID/stat after the name, or nothing if the process does not exist."""
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


def resident(process, field="VmRSS"):
    with contextlib.suppress(OSError, IndexError):
        text = pathlib.Path(f"/proc/{process}/status").read_text()
        return int(text.split(f"{field}:")[1].split()[0]) << 10
    return 0
