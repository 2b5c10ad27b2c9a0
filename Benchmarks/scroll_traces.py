#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the scroll traces of `calotype bench scroll`: milliseconds and pixels, 60 per
second.

The traces are computed by the rules of touch screens and therefore reproducible: content follows the
finger, and the speed of a fling decreases by a constant factor per millisecond. Every trace ends at
rest, which permits measuring the time until images are sharp.
"""

import math
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent.parent / "Sources/CalotypeServer/Bench/Scroll/Traces"
RATE = 60
SECONDS = 3.5
# The normal deceleration rate of iOS: the speed is multiplied by 0.998 per millisecond.
DECAY = -math.log(0.998) * 1000


def fling(speed, time):
    """The distance of a fling after a time; it stops below 60 pixels per second."""
    end = max(0, math.log(abs(speed) / 60) / DECAY)
    return speed / DECAY * (1 - math.exp(-DECAY * min(max(time, 0), end)))


def drag(time):
    """Four drags with pauses."""
    offset = 0
    for start in (0.1, 0.7, 1.3, 1.9):
        share = min(max((time - start) / 0.45, 0), 1)
        offset += 420 * share * share * (3 - 2 * share)
    return offset


def reversal(time):
    there = fling(5000, min(time, 0.9) - 0.1)
    return there + (fling(-4500, time - 0.9) if time > 0.9 else 0)


def jump(time):
    return 0 if time < 0.4 else 16000 if time < 1.8 else 6400


def jitter(generator):
    """A finger that trembles around the border of a cell."""
    walk, values = 0, []
    for _ in range(int(RATE * 2.2)):
        walk = 0.9 * walk + generator.gauss(0, 28)
        values.append(400 + walk)
    return lambda time: values[min(int(time * RATE), len(values) - 1)]


TRACES = {
    "drag": drag,
    "fling-slow": lambda time: fling(1500, time - 0.1),
    "fling": lambda time: fling(6000, time - 0.1),
    "fling-fast": lambda time: fling(15000, time - 0.1),
    "reversal": reversal,
    "jump": jump,
    "jitter": jitter(random.Random(1)),
}

for name, offset in TRACES.items():
    rows = ["milliseconds,pixels"]
    for index in range(int(SECONDS * RATE) + 1):
        time = index / RATE
        rows.append(f"{time * 1000:.3f},{max(0, offset(time)):.1f}")
    (FOLDER / f"{name}.csv").write_text("\n".join(rows) + "\n")
