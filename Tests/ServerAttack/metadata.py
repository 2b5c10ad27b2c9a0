# SPDX-License-Identifier: Apache-2.0
"""Slow metadata of doubling sizes: its cost, and the delay of other requests."""

import contextlib
import http.client
import threading
import time

from calotype_server import MEBIBYTE, Server, raw_connection
from photographs import copy_photographs
import hostile_files
from prober import sampled
from report import mebibytes, milliseconds

SCALES, BRIEF_SCALES = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1], [1 / 64, 1 / 16]
# The maximum growth of the cost relative to the growth of the file, and the minimum seconds compared.
FACTOR, LEAST = 2.0, 0.05
LONGEST, LARGEST_ANSWER, GROWTH = 5.0, MEBIBYTE, 64 * MEBIBYTE
OTHER, READERS = 0.5, 40


def run(context):
    folder = context.place / "photos"
    names = copy_photographs(context, folder, 3)
    jpeg = (folder / names[0]).read_bytes()
    costs, other = {}, []
    scales = BRIEF_SCALES if context.brief else SCALES
    for scale in scales:
        for name, data in hostile_files.slow_metadata(jpeg, scale).items():
            (folder / f"{scale}-{name}").write_bytes(data)
            costs.setdefault(name, []).append(
                measured(context, folder, f"{scale}-{name}", names, other))
    verdict = context.report.verdict
    for name, cost in costs.items():
        seconds = [one.seconds for one in cost]
        steep = max(seconds) / max(seconds[0], LEAST) / (scales[-1] / scales[0])
        verdict("metadata", f"the time for {name} is linear in its size, and at most {LONGEST:.0f} s",
                steep <= FACTOR and max(seconds) <= LONGEST,
                f"{', '.join(milliseconds(one) for one in seconds)} from 1/{1 / scales[0]:.0f} of its size to "
                f"1/{1 / scales[-1]:.0f}", seconds=seconds)
        largest, growth = max(one.length for one in cost), max(one.growth for one in cost)
        verdict("metadata", f"a response about {name} has at most 1 MiB", largest <= LARGEST_ANSWER,
                f"{largest} bytes", largest=largest)
        verdict("metadata", f"the host grows by at most 64 MiB for {name}", growth <= GROWTH,
                mebibytes(growth), growth=growth)
    verdict("metadata", f"new sizes of other images take at most {OTHER} s meanwhile",
            max(other) <= OTHER, f"worst {milliseconds(max(other))} of {len(other)}", worst=max(other))
    unread(context, folder, f"{scale}-control.png")


class Cost:
    """The cost of one request for image information."""

    def __init__(self, seconds, length, growth):
        self.seconds, self.length, self.growth = seconds, length, growth


def measured(context, folder, name, names, other):
    """Requests the information of a file from a new server, and new sizes of other images meanwhile."""
    with Server(context.program, folder, context.place / f"cache-{name}") as server:
        for known in names:
            server.get(f"/32x32/{known}")
        before, answers = server.resident(), []

        def ask():
            start = time.monotonic()
            try:
                response = server.get(f"/info/{name}")
                answers.append((response.seconds, len(response.body)))
            except (OSError, http.client.HTTPException):
                answers.append((time.monotonic() - start, 0))

        asking = threading.Thread(target=ask)
        with sampled(server.resident, 0.02) as memory, server.client() as client:
            asking.start()
            number = 0
            while asking.is_alive() or number < 3:
                number += 1
                with contextlib.suppress(OSError, http.client.HTTPException):
                    response = client.get(f"/{64 + number}x{64 + number},q{30 + number % 60}/{names[number % 3]}")
                    other.append(response.seconds)
                # A new image needs an inspection as well.
                if number % 4 == 0:
                    fresh = folder / f"new-{name}-{number}.jpg"
                    fresh.write_bytes((folder / names[number % 3]).read_bytes() + b"%d" % number)
                    other.append(client.get(f"/64x64/{fresh.name}").seconds)
                time.sleep(0.02)
            asking.join()
        return Cost(*answers[0], max(memory) - before)


def unread(context, folder, name):
    """Clients that request image information and do not read it."""
    with Server(context.program, folder, context.place / "cache-unread") as server:
        server.get("/healthz")
        before = server.resident()
        request = f"GET /info/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with contextlib.ExitStack() as stack, sampled(server.resident) as memory:
            for number in range(READERS):
                with contextlib.suppress(OSError):
                    stack.enter_context(contextlib.closing(raw_connection(
                        server.port, request, receive_buffer=4096, source=context.stranger(number))))
            time.sleep(context.seconds(10, 2))
        growth = max(memory) - before
        context.report.verdict(
            "metadata", f"{READERS} clients that do not read information cost at most 64 MiB", growth <= GROWTH,
            mebibytes(growth), growth=growth)
