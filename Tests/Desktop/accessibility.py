#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses calotype-viewer through AT-SPI, by roles, names and actions alone, as a screen reader does:
accessibility.py FOLDER_OF_PROGRAMS. Requires python3-pyatspi and at-spi2-core in addition to the programs of
screen.py.
"""

import subprocess
import sys
import time

from screen import png, run_in_session

NAMES = [f"p{index}.png" for index in range(1, 9)]


def find(condition, what, seconds=20):
    """Polls the tree of the viewer until a widget meets a condition."""
    import pyatspi

    def visit(widget):
        try:
            if condition(widget):
                return widget
            for index in range(widget.childCount):
                found = visit(widget.getChildAtIndex(index))
                if found:
                    return found
        except Exception:  # The widget has vanished.
            return None
        return None
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        desktop = pyatspi.Registry.getDesktop(0)
        for index in range(desktop.childCount):
            program = desktop.getChildAtIndex(index)
            found = visit(program) if program else None
            if found:
                return found
        time.sleep(0.05)
    sys.exit(f"viewer: {what}: not found within {seconds} s")


def is_focused(widget):
    import pyatspi
    return widget.getState().contains(pyatspi.STATE_FOCUSED)


def scenario():
    for index, name in enumerate(NAMES):
        find(lambda widget: widget.name == f"{name}, {index + 1} of 8" and "cell" in widget.getRoleName(),
             f"the cell of {name}")
    find(lambda widget: widget.name == "p1.png, 1 of 8" and is_focused(widget), "the focus on the first cell")
    subprocess.run(["xdotool", "key", "Right"], check=True)
    find(lambda widget: widget.name == "p2.png, 2 of 8" and is_focused(widget), "the focus on the second cell")
    cell = find(lambda widget: widget.name == "p5.png, 5 of 8", "the cell of p5.png")
    place = cell.queryComponent().getExtents(1)
    if place.width < 150 or place.height < 150:
        sys.exit(f"viewer: the cell of p5.png has the size {place.width} x {place.height}")
    actions = cell.queryAction()
    names = [actions.getName(index) for index in range(actions.nActions)]
    actions.doAction(0)
    find(lambda widget: widget.name == "p5.png, 5 of 8" and widget.getRoleName() in ("image", "icon"),
         f"the image, after the action {names}")
    subprocess.run(["xdotool", "key", "Right"], check=True)
    find(lambda widget: widget.name == "p6.png, 6 of 8" and is_focused(widget), "the next image")
    # The other images are cells of the film strip.
    subprocess.run(["xdotool", "key", "t"], check=True)
    cell = find(lambda widget: widget.name == "p7.png, 7 of 8" and "cell" in widget.getRoleName(),
                "a cell of the film strip")
    cell.queryAction().doAction(0)
    find(lambda widget: widget.name == "p7.png, 7 of 8" and widget.getRoleName() in ("image", "icon"),
         "the image of a cell of the film strip")
    print(f"viewer: AT-SPI finds 8 cells by name, moves the focus and opens an image by {names}")


def run(programs, work):
    viewer = subprocess.Popen([programs / "calotype-viewer", work / "pictures"], stderr=subprocess.DEVNULL)
    try:
        scenario()
    finally:
        viewer.kill()


def prepare(pictures):
    for index, name in enumerate(NAMES):
        (pictures / name).write_bytes(png(320, 240, (20 * index, 80, 120)))


run_in_session(run, prepare)
