# SPDX-License-Identifier: Apache-2.0
"""Clients that do not read responses, and a server without free file descriptors."""

import contextlib
import time

from calotype_server import MEBIBYTE, Server, raw_connection
from photographs import copy_photographs
from prober import sampled
from report import mebibytes, milliseconds, percentile

CLIENTS, BRIEF_CLIENTS = 500, 200
SECONDS, BRIEF_SECONDS = 10, 2
GROWTH = 64 * MEBIBYTE
RENDITIONS, BRIEF_RENDITIONS = 24, 4
DESCRIPTORS = 256
# The size of the original that is not read: more than the kernel buffers per connection.
ORIGINAL = 8 * MEBIBYTE
SPINNING = 0.2


def run(context):
    folder = context.place / "photos"
    names = copy_photographs(context, folder, 2)
    whole = (folder / names[0]).read_bytes()
    # Bytes after the end of a JPEG are part of the file but not of the image.
    (folder / "large.jpg").write_bytes(whole + bytes(ORIGINAL))
    slow_readers(context, folder, names, "original", ["/large.jpg"])
    slow_readers(context, folder, names, "rendition", [f"/2048x2048,up,png/{names[0]}"])
    # More bytes than the cache of responses holds.
    sides = [2048 - number for number in range(context.count(RENDITIONS, BRIEF_RENDITIONS))]
    slow_readers(context, folder, names, "renditions",
                 [f"/{side}x{side},up,png/{names[0]}" for side in sides])
    no_descriptors(context, folder, names)


def slow_readers(context, folder, names, what, paths):
    count = context.count(CLIENTS, BRIEF_CLIENTS)
    verdict = context.report.verdict
    with Server(context.program, folder, context.place / f"cache-{what}", "--sizes", "exact") as server:
        reference = server.get(f"/300x300/{names[1]}").body
        for path in 3 * paths:
            server.get(path)
        before = server.resident()
        refused, times = 0, []
        with contextlib.ExitStack() as stack, sampled(server.resident) as memory:
            for number in range(count):
                try:
                    stack.enter_context(contextlib.closing(raw_connection(
                        server.port, request(paths[number % len(paths)]), receive_buffer=4096,
                        source=context.stranger(number))))
                except OSError:
                    refused += 1
            end = time.monotonic() + context.seconds(SECONDS, BRIEF_SECONDS)
            while time.monotonic() < end:
                times.append(health(server))
                time.sleep(0.2)
            same = good(server, names[1], reference)
        growth = max(memory) - before
        verdict("readers", f"{count} clients that do not read the {what} cost at most 64 MiB",
                growth <= GROWTH, f"{mebibytes(growth)} more than {mebibytes(before)}, {refused} refused",
                growth=growth)
        verdict("readers", f"health checks take at most 1 s beside readers of the {what}", max(times) <= 1,
                f"{milliseconds(percentile(times, 0.5))}, worst {milliseconds(max(times))}", worst=max(times))
        verdict("readers", f"an image is served beside readers of the {what}", same)
        verdict("readers", f"the server recovers after readers of the {what}",
                recovered(server, names[1], reference))


def no_descriptors(context, folder, names):
    """Tests each kind of client that occupies a file descriptor."""
    kinds = {
        "silent": b"",
        "unfinished": f"GET /300x300/{names[1]} HTTP/1.1\r\nHost: localhost\r\nX-".encode(),
        "not reading": request("/large.jpg"),
        "idle": None,
    }
    if context.brief:
        kinds = {"not reading": kinds["not reading"]}
    for kind, sent in kinds.items():
        with Server(context.program, folder, context.place / f"cache-{kind.replace(' ', '-')}",
                    descriptors=DESCRIPTORS) as server:
            hold(context, server, names, kind, sent)


def settle(server, most=5):
    """Waits until the host has handled the connections made so far, at most 5 s; returns the health times.

    A host that busy-waits does not settle, and is measured afterwards.
    """
    times, start = [], time.monotonic()
    while time.monotonic() - start < most:
        used = server.processor_seconds()
        times.append(health(server))
        time.sleep(0.3)
        if server.processor_seconds() - used < 0.3 * SPINNING:
            break
    return times


def hold(context, server, names, kind, sent):
    verdict = context.report.verdict
    reference = server.get(f"/300x300/{names[1]}").body
    with contextlib.ExitStack() as stack:
        held, refused = 0, 0
        for number in range(DESCRIPTORS + 100):
            try:
                stack.enter_context(contextlib.closing(occupied(server, sent, context.stranger(number))))
                held += 1
            except OSError:
                refused += 1
        times = settle(server)
        start, used = time.monotonic(), server.processor_seconds()
        while time.monotonic() - start < context.seconds(SECONDS, BRIEF_SECONDS):
            times.append(health(server))
            time.sleep(0.3)
        share = (server.processor_seconds() - used) / (time.monotonic() - start)
    said = f"{held} connections held by {kind} clients, {refused} refused"
    verdict("readers", f"no descriptor left ({kind}): health checks take at most 1 s", max(times) <= 1,
            f"worst {milliseconds(max(times))}, {said}", worst=max(times))
    verdict("readers", f"no descriptor left ({kind}): the host does not busy-wait", share < SPINNING,
            f"{share * 100:.0f} % of a core", share=share)
    verdict("readers", f"no descriptor left ({kind}): the server recovers afterwards",
            recovered(server, names[1], reference))


def occupied(server, sent, source):
    if sent is not None:
        return raw_connection(server.port, sent, receive_buffer=4096, timeout=2, source=source)
    # A persistent connection after a response.
    connection = raw_connection(server.port, request("/healthz"), timeout=0.2, source=source)
    with contextlib.suppress(TimeoutError):
        connection.recv(1 << 16)
    return connection


def request(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def health(server):
    """Returns the seconds of a health check over a new connection, at most 2."""
    start = time.monotonic()
    try:
        if server.get("/healthz", timeout=2).status == 200:
            return time.monotonic() - start
    except OSError:
        pass
    return 2.0


def good(server, name, reference):
    with contextlib.suppress(OSError):
        return server.get(f"/300x300/{name}", timeout=10).body == reference
    return False


def recovered(server, name, reference):
    """Whether the server answers as before within five seconds."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if health(server) <= 1 and good(server, name, reference):
            return True
        time.sleep(0.1)
    return False
