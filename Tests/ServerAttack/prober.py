# SPDX-License-Identifier: Apache-2.0
"""Measurements during the work: health checks, and samples of memory."""

import contextlib
import multiprocessing
import threading
import time

from calotype_server import Client


PAUSE, TIMEOUT = 0.1, 10


class Prober:
    """Sends health checks from a separate process, so that other work does not distort their times.

    After `finish`, `times` has the seconds of all checks; failures count as the timeout.
    """

    def __init__(self, port):
        context = multiprocessing.get_context("fork")
        self.port, self.ended = context.Value("i", port), context.Event()
        self.pipe, other = context.Pipe(duplex=False)
        self.process = context.Process(target=probe, args=(self.port, self.ended, other), daemon=True)
        self.process.start()
        other.close()
        self.times = []

    def follow(self, port):
        self.port.value = port

    def finish(self):
        self.ended.set()
        with contextlib.suppress(EOFError):
            self.times = self.pipe.recv()
        self.process.join()


@contextlib.contextmanager
def probed(port):
    prober = Prober(port)
    try:
        yield prober
    finally:
        prober.finish()


def probe(port, ended, pipe):
    times = []
    while not ended.wait(PAUSE):
        asked, start = port.value, time.monotonic()
        try:
            # A new connection for each check.
            with Client(asked, timeout=TIMEOUT) as client:
                passed = client.get("/healthz").status == 200
        except OSError:
            passed = False
        # Failures between a crash and the restart do not count; the crash is reported separately.
        if passed:
            times.append(time.monotonic() - start)
        elif asked == port.value:
            times.append(TIMEOUT)
    pipe.send(times)


@contextlib.contextmanager
def sampled(measure, pause=0.2):
    """Measures periodically in a thread; yields the list of samples."""
    ended, samples = threading.Event(), [measure()]

    def sample():
        while not ended.wait(pause):
            samples.append(measure())

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()
        samples.append(measure())
