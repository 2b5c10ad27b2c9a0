# SPDX-License-Identifier: Apache-2.0
"""A viewer in a virtual display, driven by keys and read by its title and the pixels of the screen."""

import contextlib
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

WIDTH, HEIGHT = 1280, 800


def png_of_rows(width, rows, has_alpha=False):
    """A PNG file of rows, RGB or RGBA."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 6 if has_alpha else 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def png(width, height, color):
    """A PNG file of one colour."""
    return png_of_rows(width, [bytes(color) * width] * height)


@contextlib.contextmanager
def workspace():
    """A temporary folder with a home, and a folder of pictures in it."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "home").mkdir()
        (work / "pictures").mkdir()
        yield work, work / "pictures"


def contents(folder):
    """The bytes of the files in a folder, and None for each folder, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}


def virtual_display(size, *options):
    """Starts a virtual display; returns its process and its name."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{size[0]}x{size[1]}x24", "-noreset", *options],
        pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return server, f":{pipe.readline().strip()}"


class Screen:
    """A viewer in a virtual display."""

    def __init__(self, programs, work, *arguments, command=None, before=None, output=subprocess.DEVNULL,
                 size=(WIDTH, HEIGHT), **variables):
        """Starts a viewer with arguments, or another command, with environment variables, in a display and a D-Bus
        session."""
        self.programs, self.display = programs, None
        self.server, name = virtual_display(size)
        runtime = work / "run"
        runtime.mkdir(mode=0o700, exist_ok=True)
        self.environment = dict(
            os.environ, DISPLAY=name, GDK_BACKEND="x11", GSK_RENDERER="cairo", HOME=str(work / "home"),
            XDG_RUNTIME_DIR=str(runtime), XDG_DATA_HOME=str(work / "data"),
            XDG_CACHE_HOME=str(work / "cache"),
            XDG_CONFIG_HOME=str(work / "configuration"))
        if before:
            before(self)
        self.start = time.monotonic()
        self.viewer = subprocess.Popen(
            ["dbus-run-session", "--", *(command or [programs / "calotype-viewer", *arguments])],
            env=dict(self.environment, **variables), stdout=output, stderr=None if command else subprocess.DEVNULL,
            start_new_session=True)

    def another(self, *arguments):
        """Starts another viewer in the D-Bus session."""
        for child in pathlib.Path(f"/proc/{self.viewer.pid}/task/{self.viewer.pid}/children").read_text().split():
            variables = pathlib.Path(f"/proc/{child}/environ").read_bytes().decode().split("\0")
            session = [variable for variable in variables if variable.startswith("DBUS_SESSION_BUS_ADDRESS=")]
            if session:
                return subprocess.Popen(
                    [self.programs / "calotype-viewer", *arguments], stderr=subprocess.PIPE,
                    env=dict(self.environment, DBUS_SESSION_BUS_ADDRESS=session[0].partition("=")[2]))
        return sys.exit("viewer: no D-Bus session")

    def output(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True).stdout

    def key(self, name):
        self.output("xdotool", "key", name)

    def titles(self):
        windows = self.output("xdotool", "search", "--onlyvisible", "--name", ".").split()
        names = (self.output("xdotool", "getwindowname", window).decode().strip() for window in windows)
        return [name for name in names if name]

    def title(self):
        return next(iter(self.titles()), "")

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

    def shows(self, title, color):
        """Waits for a title and the colour of the centre."""
        def condition():
            centre = self.pixel(WIDTH // 2, HEIGHT // 2)
            near = centre and all(abs(one - other) < 3 for one, other in zip(centre, color))
            return near and self.title() == title
        self.wait(f"{title} is displayed", condition)

    def close(self):
        # The session as well: each that is left keeps an inotify instance, of which a user has 128.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.viewer.pid, signal.SIGTERM)
        self.viewer.wait()
        self.server.terminate()
        self.server.wait()


def run_in_session(run, prepare):
    """Calls run(programs, work) in a D-Bus session and a display of its own, after prepare(pictures)."""
    if len(sys.argv) == 3:
        return run(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    with workspace() as (work, pictures):
        prepare(pictures)
        programs = pathlib.Path(sys.argv[1]).resolve()
        screen = Screen(programs, work, command=[sys.executable, sys.argv[0], programs, work], output=None,
                        LC_ALL="C.UTF-8")
        try:
            sys.exit(screen.viewer.wait())
        finally:
            screen.close()
