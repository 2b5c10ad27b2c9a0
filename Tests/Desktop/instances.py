#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens files while calotype-viewer runs, which appear in its window: instances.py FOLDER_OF_PROGRAMS."""

import pathlib
import sys

from screen import Screen, contents, png, workspace

COLORS = {"a.png": (200, 0, 0), "b.png": (0, 200, 0), "c.png": (0, 0, 200)}


def open_another(screen, *arguments):
    """Starts another viewer, which ends at once."""
    another = screen.another(*arguments)
    if another.wait(timeout=20) != 0:
        sys.exit(f"viewer: the second process failed: {another.stderr.read().decode()}")


def scenario(screen, work, pictures):
    def shows(name, position):
        screen.shows(f"{name} – {position}", COLORS[name])
    shows("a.png", "1 of 2")
    open_another(screen, pictures / "b.png")
    shows("b.png", "2 of 2")
    before = contents(pictures)
    screen.key("Delete")
    shows("a.png", "1 of 1")
    # Another folder; the changes in the first one can still be undone.
    open_another(screen, work / "other" / "c.png")
    shows("c.png", "1 of 1")
    screen.key("ctrl+z")
    screen.wait("the restored file", lambda: contents(pictures) == before)
    open_another(screen, pictures)
    screen.wait("the grid", lambda: screen.pixel(2, 2) != (0x1C, 0x1C, 0x1E))
    screen.key("End")
    screen.key("Return")
    shows("b.png", "2 of 2")
    # The folder that is displayed now is followed, and the first one no longer.
    open_another(screen, work / "other")
    screen.wait("the other folder", lambda: screen.title() == "c.png – 1 of 1")
    (pictures / "z.png").write_bytes(png(20, 20, (9, 9, 9)))
    (work / "other" / "d.png").write_bytes(png(20, 20, (9, 9, 9)))
    screen.wait("the new file", lambda: screen.title() == "c.png – 1 of 2")
    another = screen.another(work / "missing.png")
    if another.wait(timeout=20) != 1 or b"missing.png" not in another.stderr.read():
        sys.exit("viewer: a missing file was opened")
    another = screen.another("--new-instance", work / "other" / "d.png")
    screen.wait("the second window", lambda: len(screen.titles()) == 2)
    another.kill()
    screen.wait("the first window", lambda: len(screen.titles()) == 1)
    screen.key("q")
    if screen.viewer.wait(timeout=20) != 0:
        sys.exit("viewer: failed at its end")


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    with workspace() as (work, pictures):
        (work / "other").mkdir()
        for name, color in COLORS.items():
            folder = work / "other" if name == "c.png" else pictures
            (folder / name).write_bytes(png(1400, 900, color))
        screen = Screen(programs, work, pictures / "a.png")
        try:
            scenario(screen, work, pictures)
        finally:
            screen.close()
    print("viewer: files of other processes appear in the window, and undo reverts changes in other folders")


main()
