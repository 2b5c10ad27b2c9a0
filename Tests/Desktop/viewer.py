#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives calotype-viewer by keys in a virtual display, and checks its title, the pixels of the screen and the
files: viewer.py FOLDER_OF_PROGRAMS. Requires Xvfb, xdotool, ImageMagick and dbus-run-session.
"""

import pathlib
import sys
import time

from screen import WIDTH, Screen, contents, png, workspace

COLORS = {"a1.png": (200, 0, 0), "a2.png": (0, 200, 0), "a10.png": (0, 0, 200)}


def shows(screen, name, position):
    screen.shows(f"{name} – {position}", COLORS[name.replace("z2", "a2")])


def scenario(screen, pictures):
    shows(screen, "a2.png", "2 of 4")
    print(f"viewer: the opened image is displayed after {time.monotonic() - screen.start:.2f} s")
    screen.key("Right")
    shows(screen, "a10.png", "3 of 4")
    screen.key("Left")
    screen.key("Left")
    shows(screen, "a1.png", "1 of 4")
    # The grid: cells of 192 pixels, the first at the left edge, the current one in a frame.
    screen.key("Escape")
    left = (WIDTH - 6 * 204 + 12) // 2
    for index, name in enumerate(("a1.png", "a2.png", "a10.png")):
        screen.wait(f"the cell of {name}", lambda: screen.pixel(left + 96 + index * 204, 108) == COLORS[name])
    screen.wait("the frame", lambda: screen.pixel(left - 3, 108) == (0x4A, 0x90, 0xE2))
    screen.key("Right")
    screen.wait("the frame moves", lambda: screen.pixel(left + 204 - 3, 108) == (0x4A, 0x90, 0xE2))
    screen.key("Return")
    shows(screen, "a2.png", "2 of 4")
    before = contents(pictures)
    screen.key("Delete")
    shows(screen, "a10.png", "2 of 3")
    if (pictures / "a2.png").exists():
        sys.exit("viewer: a2.png was not moved to the trash")
    screen.key("5")
    screen.wait("the sidecar", lambda: (pictures / "a10.png.xmp").exists())
    screen.key("ctrl+z")
    screen.key("ctrl+z")
    shows(screen, "a2.png", "2 of 4")
    if before != contents(pictures):
        sys.exit("viewer: undo did not restore the files")
    # Another name; the extension is not selected.
    screen.key("F2")
    screen.wait("the dialog", lambda: "rename" in screen.titles())
    # Without a window manager, the window under the pointer receives the keys.
    screen.output("xdotool", "mousemove", "20", "17")
    screen.output("xdotool", "type", "z2")
    screen.key("Return")
    shows(screen, "z2.png", "4 of 4")
    screen.key("ctrl+z")
    shows(screen, "a2.png", "2 of 4")
    if before != contents(pictures):
        sys.exit("viewer: undo did not restore the name")
    # A file that another program writes again, in the grid and alone.
    screen.key("g")
    screen.wait("the cell", lambda: screen.pixel(left + 96 + 204, 108) == COLORS["a2.png"])
    (pictures / "a2.png").write_bytes(png(2000, 1500, (90, 90, 0)))
    screen.wait("the new cell", lambda: screen.pixel(left + 96 + 204, 108) == (90, 90, 0))
    screen.key("g")
    screen.shows("a2.png – 2 of 4", (90, 90, 0))
    # A key that the file of keys adds.
    screen.key("j")
    shows(screen, "a10.png", "3 of 4")
    # Changes by other programs.
    (pictures / "a10.png").unlink()
    screen.wait("the next image", lambda: screen.title() == "broken.jpg – 3 of 3")
    (pictures / "new").write_bytes(before["a1.png"])
    (pictures / "new").rename(pictures / "b.png")
    screen.wait("the new image", lambda: screen.title() == "broken.jpg – 4 of 4")
    screen.key("q")
    if screen.viewer.wait(timeout=20) != 0:
        sys.exit("viewer: failed at its end")


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    with workspace() as (work, pictures):
        for name, color in COLORS.items():
            (pictures / name).write_bytes(png(2000, 1500, color))
        (pictures / "broken.jpg").write_text("text")
        (work / "configuration/calotype").mkdir(parents=True)
        (work / "configuration/calotype/keys").write_text("j = next\n")
        screen = Screen(programs, work, pictures / "a2.png")
        try:
            scenario(screen, pictures)
        finally:
            screen.close()
    print("viewer: all steps passed")


main()
