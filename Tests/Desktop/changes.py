#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Creates, renames and deletes files 100 times a second while calotype-viewer shows their folder, and checks that no
image appears under the name of another: changes.py FOLDER_OF_PROGRAMS [SECONDS]. Each name has its colour.
"""

import pathlib
import random
import sys
import threading
import time

from screen import HEIGHT, WIDTH, Screen, png, workspace


def color(number):
    return (5 * number % 256, 97 * number % 256, 200 - number)


def change(folder, end, counts):
    """Changes files until a time; a new file appears complete, by renaming."""
    generator = random.Random(29)
    files = {number: png(1280, 800, color(number)) for number in range(60)}
    due = time.monotonic()
    while time.monotonic() < end:
        number = generator.randrange(60)
        path = folder / f"p{number}.png"
        if path.exists() and generator.random() < 0.5:
            path.unlink()
        else:
            (folder / ".new").write_bytes(files[number])
            (folder / ".new").rename(path)
        counts[0] += 1
        due += 0.01
        time.sleep(max(0, due - time.monotonic()))


def check(screen):
    """Whether the image has the colour of the name; None if none is displayed or it changes meanwhile."""
    before, shown, after = screen.title(), screen.pixel(WIDTH // 2, HEIGHT // 2), screen.title()
    name = before.split(" ")[0]
    # Of an image that is not loaded yet, the background is displayed.
    if name != after.split(" ")[0] or not name.startswith("p") or shown == (0x1C, 0x1C, 0x1E):
        return None
    return shown == color(int(name[1:].split(".")[0]))


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    with workspace() as (work, pictures):
        (pictures / "p1.png").write_bytes(png(1280, 800, color(1)))
        screen = Screen(programs, work, pictures / "p1.png")
        try:
            screen.shows("p1.png – 1 of 1", color(1))
            counts = [0]
            thread = threading.Thread(target=change, args=(pictures, time.monotonic() + seconds, counts))
            thread.start()
            checked = 0
            while thread.is_alive():
                screen.key(random.choice(["Right", "Left"]))
                time.sleep(0.05)
                # A frame may be older than the title.
                for _ in range(5):
                    state = check(screen)
                    if state is not False:
                        break
                    time.sleep(0.05)
                if state is False:
                    sys.exit(f"viewer: {screen.title()!r}: the image of another file; see artifacts/viewer.png")
                if state is None:
                    continue
                checked += 1
            count = len([path for path in pictures.iterdir() if path.suffix == ".png"])
            screen.wait("the final list", lambda: screen.title().endswith(f" of {count}"))
        finally:
            screen.close()
    if checked == 0:
        sys.exit("viewer: no image was checked")
    print(f"viewer: {counts[0]} changes in {seconds:.0f} s: {checked} images under their names, and the final list")


main()
