#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Presses random keys in calotype-viewer, then undoes all changes, and compares the folder: keys.py
FOLDER_OF_PROGRAMS [SEQUENCES [SEED]]. Each sequence has 20 keys.
"""

import pathlib
import random
import sys
import time

from screen import Screen, contents, png, workspace

KEYS = """Right Left Up Down space BackSpace Home End Page_Up Page_Down Return g Escape f t s c plus minus ctrl+0
ctrl+1 p period comma r R Delete ctrl+z x 0 1 2 3 4 5 v i e question alt+1 alt+2 ctrl+alt+1 ctrl+alt+2 ctrl+c""".split()


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    generator = random.Random(sys.argv[3] if len(sys.argv) > 3 else "29")
    with workspace() as (work, pictures):
        for index in range(12):
            (pictures / f"p{index}.png").write_bytes(png(900, 700, (20 * index, 100, 200 - 10 * index)))
        for pattern, maximum in (("jpeg/valid/*.jpg", 6), ("gif/valid/*.gif", 3)):
            for sample in sorted(pathlib.Path("Corpus").glob(pattern))[:maximum]:
                (pictures / sample.name).write_bytes(sample.read_bytes())
        before = contents(pictures)
        screen = Screen(programs, work, pictures)
        try:
            screen.wait("the list", lambda: screen.title().endswith(f"of {len(before)}"))
            pressed = 0
            for _ in range(count):
                keys = generator.choices(KEYS, k=20)
                # Leaving the grid ends the viewer.
                keys = [key for key in keys if key != "Escape"] + ["Return"]
                screen.output("xdotool", "key", "--delay", "2", *keys)
                pressed += len(keys)
                if screen.viewer.poll() is not None:
                    sys.exit(f"viewer: ended after {pressed} keys, of which the last are {' '.join(keys)}")
            for _ in range(40):
                screen.output("xdotool", "key", "--delay", "2", *["ctrl+z"] * 50)
                time.sleep(0.2)
                if contents(pictures) == before:
                    break
            after = contents(pictures)
            if after != before:
                names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
                sys.exit(f"viewer: undo did not restore {' '.join(names)}")
            screen.wait("the list", lambda: screen.title().endswith(f"of {len(before)}"))
        finally:
            screen.close()
    print(f"viewer: {count} sequences of keys, {pressed} keys: no crash, and undo restored all files")


main()
