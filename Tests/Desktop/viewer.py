#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives calotype-viewer by keys in a virtual display, and checks its title, the pixels of the screen and the
files: viewer.py FOLDER_OF_PROGRAMS. Requires Xvfb, xdotool, ImageMagick and dbus-run-session.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import zlib

WIDTH, HEIGHT = 1280, 800
COLORS = {"a1.png": (200, 0, 0), "a2.png": (0, 200, 0), "a10.png": (0, 0, 200)}


def png(width, height, color):
    """A PNG file of one colour."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = (b"\0" + bytes(color) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


class Screen:
    """A viewer in a virtual display."""

    def __init__(self, programs, work, argument):
        self.display = None
        reading, writing = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24"],
            pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        runtime = work / "run"
        runtime.mkdir(mode=0o700, exist_ok=True)
        self.environment = dict(
            os.environ, DISPLAY=f":{number}", GDK_BACKEND="x11", GSK_RENDERER="cairo", HOME=str(work / "home"),
            XDG_RUNTIME_DIR=str(runtime), XDG_DATA_HOME=str(work / "data"),
            XDG_CONFIG_HOME=str(work / "configuration"))
        self.start = time.monotonic()
        self.viewer = subprocess.Popen(
            ["dbus-run-session", "--", programs / "calotype-viewer", argument], env=self.environment,
            stderr=subprocess.DEVNULL)

    def output(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True).stdout

    def key(self, name):
        self.output("xdotool", "key", name)

    def title(self):
        for window in self.output("xdotool", "search", "--onlyvisible", "--name", ".").split():
            name = self.output("xdotool", "getwindowname", window).decode().strip()
            if name:
                return name
        return ""

    def pixel(self, x, y):
        image = self.output("import", "-window", "root", "-crop", f"1x1+{x}+{y}", "-depth", "8", "rgb:-")
        return tuple(image[:3])

    def wait(self, what, condition, seconds=20):
        """Polls the screen until it is in a state."""
        end = time.monotonic() + seconds
        while not condition():
            if self.viewer.poll() is not None:
                sys.exit(f"viewer: ended before: {what}")
            if time.monotonic() > end:
                self.output("import", "-window", "root", "artifacts/viewer.png")
                sys.exit(f"viewer: {what}: not within {seconds} s; title {self.title()!r}, "
                         f"centre {self.pixel(WIDTH // 2, HEIGHT // 2)}; see artifacts/viewer.png")
            time.sleep(0.02)

    def shows(self, name, position):
        def condition():
            color = self.pixel(WIDTH // 2, HEIGHT // 2)
            near = color and all(abs(one - other) < 3 for one, other in zip(color, COLORS[name]))
            return near and self.title() == f"{name} – {position}"
        self.wait(f"{name} is displayed", condition)

    def close(self):
        self.viewer.kill()
        self.server.terminate()
        self.server.wait()


def scenario(screen, pictures):
    screen.shows("a2.png", "2 of 4")
    print(f"viewer: the opened image is displayed after {time.monotonic() - screen.start:.2f} s")
    screen.key("Right")
    screen.shows("a10.png", "3 of 4")
    screen.key("Left")
    screen.key("Left")
    screen.shows("a1.png", "1 of 4")
    # The grid: cells of 192 pixels, the first at the left edge, the current one in a frame.
    screen.key("Escape")
    left = (WIDTH - 6 * 204 + 12) // 2
    for index, name in enumerate(("a1.png", "a2.png", "a10.png")):
        screen.wait(f"the cell of {name}", lambda: screen.pixel(left + 96 + index * 204, 108) == COLORS[name])
    screen.wait("the frame", lambda: screen.pixel(left - 3, 108) == (0x4A, 0x90, 0xE2))
    screen.key("Right")
    screen.wait("the frame moves", lambda: screen.pixel(left + 204 - 3, 108) == (0x4A, 0x90, 0xE2))
    screen.key("Return")
    screen.shows("a2.png", "2 of 4")
    before = {path.name: path.read_bytes() for path in pictures.iterdir()}
    screen.key("Delete")
    screen.shows("a10.png", "2 of 3")
    if (pictures / "a2.png").exists():
        sys.exit("viewer: a2.png was not moved to the trash")
    screen.key("5")
    screen.wait("the sidecar", lambda: (pictures / "a10.png.xmp").exists())
    screen.key("ctrl+z")
    screen.key("ctrl+z")
    screen.shows("a2.png", "2 of 4")
    if before != {path.name: path.read_bytes() for path in pictures.iterdir()}:
        sys.exit("viewer: undo did not restore the files")
    # A key that the file of keys adds.
    screen.key("j")
    screen.shows("a10.png", "3 of 4")
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
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        pictures = work / "pictures"
        pictures.mkdir()
        (work / "home").mkdir()
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
