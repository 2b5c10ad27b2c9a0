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


def is_image(widget):
    return widget.getRoleName() in ("image", "icon")


def is_cell(widget):
    return "cell" in widget.getRoleName()


def find_named(name, condition, what=None):
    """Finds a widget by its name and a condition."""
    return find(lambda widget: widget.name == name and condition(widget), what or name)


def press(*keys):
    subprocess.run(["xdotool", "key", *keys], check=True)


def browse():
    for index, name in enumerate(NAMES):
        find_named(f"{name}, {index + 1} of 8", is_cell)
    find_named("p1.png, 1 of 8", is_focused, "the focus on the first cell")
    press("Right")
    find_named("p2.png, 2 of 8", is_focused, "the focus on the second cell")
    press("End")
    find_named("p8.png, 8 of 8", is_focused, "the focus on the last cell")
    cell = find_named("p5.png, 5 of 8", is_cell)
    place = cell.queryComponent().getExtents(1)
    if place.width < 150 or place.height < 150:
        sys.exit(f"viewer: the cell of p5.png has the size {place.width} x {place.height}")
    actions = cell.queryAction()
    names = [actions.getName(index) for index in range(actions.nActions)]
    actions.doAction(0)
    find_named("p5.png, 5 of 8", is_image, f"the image, after the action {names}")
    press("Right")
    find_named("p6.png, 6 of 8", is_focused, "the next image")
    # The other images are cells of the film strip.
    press("t")
    cell = find_named("p7.png, 7 of 8", is_cell, "a cell of the film strip")
    cell.queryAction().doAction(0)
    find_named("p7.png, 7 of 8", is_image, "the image of a cell of the film strip")
    press("t", "c")
    for name in ("p7.png, 7 of 8", "p8.png, 8 of 8"):
        find_named(name, is_image, f"the compared image {name}")
    press("Escape", "g")
    find_named("p7.png, 7 of 8", lambda widget: is_cell(widget) and is_focused(widget), "the cell of the image")


def change(pictures):
    press("Home", "Delete")
    find_named("p2.png, 1 of 7", is_focused, "the focus on the cell after the one in the trash")
    press("ctrl+z")
    find_named("p1.png, 1 of 8", is_focused, "the restored cell")
    press("F2")
    entry = find(lambda widget: widget.getRoleName() in ("text", "entry") and is_focused(widget), "the new name")
    text = entry.queryText()
    if text.getText(0, text.characterCount) != "p1.png":
        sys.exit(f"viewer: the entry contains {text.getText(0, text.characterCount)!r}")
    # Without a window manager, the window under the pointer receives the keys.
    subprocess.run(["xdotool", "mousemove", "20", "17", "type", "p9"], check=True)
    press("Return")
    find_named("p9.png, 8 of 8", is_focused, "the cell under its new name")
    press("ctrl+z")
    find_named("p1.png, 1 of 8", is_focused, "the cell under its old name")
    (pictures / "p3.png").unlink()
    find_named("p4.png, 3 of 7", is_cell, "the cell after one that another program deleted")
    (pictures / "new").write_bytes(png(320, 240, (9, 9, 9)))
    (pictures / "new").rename(pictures / "p0.png")
    find_named("p0.png, 1 of 8", is_cell, "the cell of a file of another program")
    find_named("p1.png, 2 of 8", is_focused, "the focus, which stays")


def run(programs, work):
    viewer = subprocess.Popen([programs / "calotype-viewer", work / "pictures"], stderr=subprocess.DEVNULL)
    try:
        browse()
        change(work / "pictures")
    finally:
        viewer.kill()
    print("viewer: AT-SPI finds cells, images and the entry of the name by role, name and focus, and performs actions")


def prepare(pictures):
    for index, name in enumerate(NAMES):
        (pictures / name).write_bytes(png(320, 240, (20 * index, 80, 120)))


run_in_session(run, prepare)
