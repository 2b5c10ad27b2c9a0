#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens archives and folders of a server, which are displayed like folders of files: folders.py FOLDER_OF_PROGRAMS.
Archives are written by Python's zipfile. Requires calotype-server beside calotype-viewer, and the programs of
screen.py.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import zipfile

from screen import HEIGHT, Screen, contents, png, png_of_rows, workspace

COLORS = {"a1.png": (200, 0, 0), "trip/a2.png": (0, 200, 0), "trip/a10.png": (0, 0, 200)}
# Keys of commands that change files or pass them to other programs.
READING_KEYS = ("Delete", "F2", "r", "3", "x", "v", "alt+1", "ctrl+alt+1", "ctrl+z", "ctrl+c")


def large(color):
    """A PNG file with a left column of another colour, which is visible only if the image is not enlarged."""
    return png_of_rows(2000, [bytes((9, 9, 9)) * 400 + bytes(color) * 1600] * 1500)


def write_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        for index, (name, color) in enumerate(COLORS.items()):
            archive.writestr(name, large(color),
                             compress_type=(zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[index % 2])
        archive.writestr("trip/readme.txt", b"text")


def browse(screen, names, folder):
    """Goes through the images of a folder by keys, enlarges one, and tries to change it."""
    for index, name in enumerate(names):
        screen.key("Home")
        for _ in range(index):
            screen.key("Right")
        screen.key("Return")
        screen.shows(f"{name} – {index + 1} of {len(names)}", COLORS[folder + name])
        screen.wait("the left column", lambda: screen.pixel(120, 400)[1] < 20)
        screen.key("g")
    screen.key("Return")
    screen.key("ctrl+1")
    # At 100 %, the left column is outside of the window; the tiles come from the original.
    screen.wait("100 %", lambda: screen.pixel(120, 400) == COLORS[folder + names[-1]])
    for key in READING_KEYS:
        screen.key(key)
    screen.shows(f"{names[-1]} – {len(names)} of {len(names)}", COLORS[folder + names[-1]])


def archives(programs):
    with workspace() as (work, pictures):
        path = pictures / "album.cbz"
        write_archive(path)
        before = contents(pictures)
        screen = Screen(programs, work, path)
        try:
            screen.wait("the list", lambda: screen.title() == "a1.png – 1 of 3")
            browse(screen, list(COLORS), "")
        finally:
            screen.close()
        if contents(pictures) != before:
            sys.exit("viewer: the folder of the archive has changed")
        for name, reason in (("../a.png", "leads out of the archive"), ("a.png", "damaged")):
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(name, b"text")
            if name == "a.png":
                # The start of the record at the end is an offset in the file.
                data = bytearray(path.read_bytes())
                data[-12] ^= 0x7F
                path.write_bytes(data)
            screen = Screen(programs, work, path)
            try:
                screen.wait(f"why the archive is refused: {reason}",
                            lambda: screen.title() == str(path) and max(screen.pixel(24, HEIGHT - 40)) < 64)
            finally:
                screen.close()
    print("viewer: the images of an archive are displayed, and are not changed")


@contextlib.contextmanager
def server(programs, work, folder):
    """Serves a folder; yields the URL and the process."""
    process = subprocess.Popen(
        [programs / "calotype-server", "serve", folder, "--port", "0", "--cache-directory", work / "server-cache"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=str(work / "home")))
    try:
        text = ""
        while not (found := re.search(r"http://[^\s/]+", text)):
            line = process.stdout.readline().decode()
            if not line:
                sys.exit("viewer: the server ended")
            text += line
        yield found.group(), process
    finally:
        process.kill()
        process.wait()


def servers(programs):
    with workspace() as (work, pictures):
        for name, color in COLORS.items():
            (pictures / name).parent.mkdir(exist_ok=True)
            (pictures / name).write_bytes(large(color))
        before = contents(pictures)
        names = ["a2.png", "a10.png"]
        with server(programs, work, pictures) as (url, process):
            screen = Screen(programs, work, f"{url}/trip/")
            try:
                screen.wait("the list", lambda: screen.title() == "a2.png – 1 of 2")
                browse(screen, names, "trip/")
                # The URL of the gallery page at an image, from another process.
                another = screen.another(f"{url}/#/trip/a2.png")
                if another.wait(timeout=20) != 0:
                    sys.exit(f"viewer: the second process failed: {another.stderr.read().decode()}")
                screen.shows("a2.png – 1 of 2", COLORS["trip/a2.png"])
                another = screen.another(f"{url}/a1.png")
                another.wait(timeout=20)
                screen.shows("a1.png – 1 of 1", COLORS["a1.png"])
                process.kill()
                screen.key("Escape")
                screen.wait("the grid", lambda: screen.pixel(2, 2) != (0x1C, 0x1C, 0x1E))
                screen.key("q")
                if screen.viewer.wait(timeout=20) != 0:
                    sys.exit("viewer: failed at its end")
            finally:
                screen.close()
        if contents(pictures) != before:
            sys.exit("viewer: the folder of the server has changed")
        # An address at which no server answers.
        screen = Screen(programs, work, f"{url}/trip/")
        try:
            screen.wait("the empty folder", lambda: screen.title() == f"{url}/trip")
            (pictures / "b.png").write_bytes(png(300, 200, (1, 2, 3)))
            another = screen.another(pictures / "b.png")
            another.wait(timeout=20)
            screen.wait("another folder", lambda: screen.title() == "b.png – 2 of 2")
        finally:
            screen.close()
    print("viewer: the images of a server are displayed, and are not changed")


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    archives(programs)
    servers(programs)


main()
