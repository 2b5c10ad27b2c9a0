# SPDX-License-Identifier: Apache-2.0
"""The client of `calotype worker`."""

from __future__ import annotations

import json
import os
import queue
import shutil
import socket
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import IO, Any, Optional

from ._outputs import Outputs, Row

_MEMBERS = ("status", "format", "width", "height", "outputs", "milliseconds")
_local = threading.local()


class WorkerError(Exception):
    """The program cannot be started, or does not follow the protocol: the operator."""


class Worker:
    """A process `calotype worker`, which is started again if it ends.

    Requests that it has not answered are then repeated one by one. The source that ends the worker again, alone, is
    reported as crashed.
    """

    def __init__(
        self, program: Optional[str] = None, *, jobs: Optional[int] = None, arguments: Iterable[str] = (),
    ) -> None:
        path = program or os.environ.get("CALOTYPE_PROGRAM") or shutil.which("calotype")
        if path is None:
            raise WorkerError("calotype is not on the PATH; name it in CALOTYPE_PROGRAM")
        self.jobs = jobs or os.cpu_count() or 1
        self.start_count = 0
        self._command = [path, "worker", "--jobs", str(self.jobs), *arguments]
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._responses: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._reader: Optional[threading.Thread] = None
        self._count = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process_id(self) -> Optional[int]:
        """The identifier of the process, `None` before the first request."""
        return self._process.pid if self._process else None

    def close(self) -> None:
        """Ends the process after the requests in progress."""
        process, self._process = self._process, None
        reader, self._reader = self._reader, None
        if process is not None:
            assert process.stdin and process.stdout
            try:
                process.stdin.close()
            except OSError:
                pass  # The process has ended.
            process.wait()
            if reader is not None:
                reader.join()  # It reads from the descriptor, whose number is free after this.
            process.stdout.close()

    def run(self, rows: Iterable[Row], outputs: Outputs) -> Iterator[Row]:
        """Makes the outputs of all rows; yields a record for each, in the order in which they end.

        At most two rows for each job are taken from `rows` in advance. A row can have `bytes`, which are sent instead of
        reading the source.
        """
        remaining = iter(rows)
        waiting: dict[str, tuple[Row, int]] = {}
        repeated: deque[Row] = deque()
        try:
            while True:
                while not repeated and len(waiting) < 2 * self.jobs and (row := next(remaining, None)) is not None:
                    self._send(row, outputs, waiting, 1)
                if repeated and not waiting:
                    self._send(repeated.popleft(), outputs, waiting, 2)
                if not waiting:
                    return
                line = self._responses.get()
                if line is not None:
                    response = _response(line)
                    entry = waiting.pop(response.get("id"), None)
                    if entry is None:
                        raise WorkerError(f"a response to no request: {response}")
                    yield self._record(entry, outputs, response)
                    continue
                self.close()
                for row, attempt in waiting.values():
                    if attempt == 1:
                        repeated.append(row)
                    else:
                        message = "the worker ended twice; the second time, this was its only source"
                        yield self._record((row, attempt), outputs, {
                            "status": "failed", "error": {"kind": "crashed", "message": message, "retry": False}})
                waiting.clear()
        finally:
            if waiting:  # The caller has stopped: no later run must receive these responses.
                self.close()

    def _send(self, row: Row, outputs: Outputs, waiting: dict[str, tuple[Row, int]], attempt: int) -> None:
        if self._process is None:
            self._start()
        assert self._process and self._process.stdin
        self._count += 1
        identifier = str(self._count)
        waiting[identifier] = (row, attempt)
        line = json.dumps(outputs.request(identifier, row), separators=(",", ":"))
        try:
            for data in (line.encode() + b"\n", row.get("bytes") or b""):
                remaining = memoryview(data)
                while remaining:
                    remaining = remaining[self._process.stdin.write(remaining):]
        except OSError:
            pass  # The process has ended: the reader reports it.

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        except OSError as error:
            raise WorkerError(f"{self._command[0]}: {error.strerror}") from error
        assert self._process.stdout
        self.start_count += 1
        lines = open(self._process.stdout.fileno(), "rb", closefd=False)
        hello = lines.readline()
        if b'"protocol":1,' not in hello:
            self.close()
            raise WorkerError(f"{self._command[0]} does not start; it wrote {hello[:200]!r}")
        self._responses = queue.SimpleQueue()
        self._reader = threading.Thread(target=_read, args=(lines, self._responses), daemon=True)
        self._reader.start()

    def _record(self, entry: tuple[Row, int], outputs: Outputs, response: Row) -> Row:
        row, attempt = entry
        error = response.get("error") or {}
        record: dict[str, Any] = {
            "source": row["source"], "version": row.get("version"), "request": outputs.digest,
            "kind": error.get("kind"), "message": error.get("message"), "retry": error.get("retry", False),
            "attempt": attempt, "worker": f"{socket.gethostname()}:{os.getpid()}"}
        record.update((member, response.get(member)) for member in _MEMBERS)
        record["outputs"] = record["outputs"] or []
        return record


def _read(lines: IO[bytes], responses: queue.SimpleQueue[Optional[bytes]]) -> None:
    """Passes on the responses, and `None` at their end; the process never waits for the client to read."""
    try:
        for line in lines:
            if not line.endswith(b"\n"):
                break  # The process ended while it wrote.
            responses.put(line)
    finally:
        responses.put(None)


def _response(line: bytes) -> Row:
    try:
        response = json.loads(line)
    except ValueError:
        response = None
    if not isinstance(response, dict):
        raise WorkerError(f"a line that is not a response: {line[:200]!r}")
    return response


def work(rows: Iterable[Row], outputs: Outputs, arguments: tuple[str, ...] = ()) -> Iterator[Row]:
    """Makes the outputs of rows in the worker of this thread, which serves later calls as well.

    It has one job: a task of an engine occupies one core. It ends with the process that called this.
    """
    workers = vars(_local).setdefault("workers", {})
    key = (os.getpid(), arguments)
    if key not in workers:
        workers[key] = Worker(jobs=1, arguments=arguments)
    return workers[key].run(rows, outputs)
